import { resolve } from 'node:path';
import type { Command } from 'commander';
import { Scope } from '../../../src/base/scope.js';
import { openIndex } from '../../../src/pgc/search/open-index.js';
import { writeScip } from '../../../src/pgc/scip/write-index.js';
import { languageOf } from '../../../src/pgc/source/language.js';
import { RevisionTree } from '../../../src/pgc/source/revision-tree.js';
import { SourceTree, type ReadableTree } from '../../../src/pgc/source/source-tree.js';
import { version } from '../../version.js';
import { configOf, withCommon, type CommonOptions } from '../options.js';
import { print } from '../output.js';

interface ExportOptions extends CommonOptions {
  scip: string;
}

export function addExportCommand(sigma: Command): void {
  withCommon(sigma.command('export').argument('<repo>', 'root of an indexed tree'))
    .description('write the index of a tree in a format that other tools read')
    .requiredOption('--scip <file>', 'as a SCIP index: definitions, proven references, symbols')
    .action(async (repo: string, options: ExportOptions) => {
      const { home } = configOf(options);
      using tree = await openIndex(repo, home);
      const { root, project, shards, manifest } = tree;
      await using scope = new Scope();
      const texts: ReadableTree =
        manifest.as_of === ''
          ? await SourceTree.open(root)
          : scope.own(await RevisionTree.open(root, manifest.as_of));
      const textOf = async (path: string, blob: string): Promise<string | undefined> => {
        const language = languageOf(path);
        if (language === undefined) return undefined;
        const source = await texts.read({ path, language });
        return 'reason' in source || source.blob !== blob
          ? undefined
          : Buffer.from(source.bytes).toString();
      };
      const path = resolve(options.scip);
      const report = await writeScip({ root, project, version, shards, textOf }, path);
      print(options, { path, ...report }, () =>
        [
          `${path}: ${report.documents} documents, ${report.definitions} definitions of ${report.symbols} symbols, ${report.references} references`,
          ...(report.left_out === 0
            ? []
            : [`${report.left_out} files left out: they have changed since they were indexed`]),
          ...(report.unplaced === 0
            ? []
            : [`${report.unplaced} names left out: their place on the line is not clear`]),
        ].join('\n'),
      );
    });
}
