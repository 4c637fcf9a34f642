import fc from 'fast-check';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { servedFiles } from '../../../support/served-files.js';
import { runs } from '../../../support/runs.js';

const names = ['alpha', 'beta', 'gamma', 'delta'];
const name = fc.constantFrom(...names);
/** What a file may hold: a definition, a call, a mention of a name that may or may not be defined, an option. */
const line = fc.oneof(
  name.map((each) => `int ${each}(int a) { return a; }`),
  fc.tuple(name, name).map(([one, other]) => `static int use_${one}(void) { return ${other}(1); }`),
  name.map((each) => `/* See ${each}() for more. */`),
  name.map((each) => `#ifdef CONFIG_${each.toUpperCase()}\n#endif`),
  fc.constant('int copy(char *to, char *from) { strcpy(to, from); return 0; }'),
);
const code = fc.array(line, { maxLength: 4 }).map((lines) => `${lines.join('\n')}\n`);
const markdown = name.map(
  (each) => `# About\n\nCall \`${each}()\` before anything else is done here.\n`,
);
const kconfig = name.map((each) => `config ${each.toUpperCase()}\n\tbool "${each}"\n`);
const edit = fc.oneof(
  fc.tuple(fc.constantFrom('mm/a.c', 'mm/b.c', 'net/a.c', 'net/b.c', 'fs/a.c'), code),
  fc.tuple(fc.constant('doc/a.md'), markdown),
  fc.tuple(fc.constant('mm/Kconfig'), kconfig),
  fc.tuple(fc.constantFrom('mm/b.c', 'net/b.c', 'doc/a.md'), fc.constant(undefined)),
  fc.tuple(fc.constant('net/tool.py'), fc.constantFrom('import os\nos.system(x)\n', undefined)),
  fc.tuple(
    fc.constant('.sigma/security.json'),
    fc.constantFrom(
      '{"off":["unbounded-copy"]}',
      '{"off":[{"id":"shell-command","languages":["python"]}]}',
      undefined,
    ),
  ),
);

test('after any sequence of changes the index is what a first run would make', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(edit, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
      async (steps) => {
        const folder = await mkdtemp(join(tmpdir(), 'sigma-small-'));
        try {
          const root = join(folder, 'tree');
          const shards = {
            mode: 'explicit' as const,
            shards: [
              { alias: 'mm', paths: ['mm'] },
              { alias: 'net', paths: ['net'] },
              { alias: 'rest', paths: ['.'] },
            ],
          };
          const index = (home: string) => indexFolder({ root, home, shards, jobs: 0 });
          const put = async (path: string, text: string | undefined): Promise<void> => {
            await mkdir(dirname(join(root, path)), { recursive: true });
            if (text === undefined) await rm(join(root, path), { force: true });
            else await writeFile(join(root, path), text);
          };
          for (const path of ['mm/a.c', 'net/a.c', 'fs/a.c']) await put(path, 'int start;\n');
          const home = join(folder, 'home');
          await index(home);
          for (const edits of steps) {
            for (const [path, text] of edits) await put(path, text);
            await index(home);
          }
          const fresh = join(folder, 'fresh');
          await index(fresh);
          expect(await servedFiles(root, home)).toEqual(await servedFiles(root, fresh));
        } finally {
          await rm(folder, { recursive: true });
        }
      },
    ),
    { numRuns: runs(3) },
  );
}, 60_000);
