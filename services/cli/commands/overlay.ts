import type { Command } from 'commander';
import { indexFolder } from '../../../src/pgc/index-folder.js';
import { placeOf, readManifest, type Manifest } from '../../../src/pgc/manifest.js';
import { generators } from '../../../src/pgc/overlays/generators.js';
import { overlayNames, type OverlayName } from '../../../src/pgc/shapes.js';
import { realRoot } from '../../../src/pgc/source-tree.js';
import { configOf, withCommon, type CommonOptions } from '../options.js';
import { print, table, usage } from '../output.js';
import { progressTo } from '../progress.js';

interface OverlayOptions extends CommonOptions {
  repo: string;
}

/** `overlay list|generate`: what is known of a tree, and making some of it anew. */
export function addOverlayCommands(sigma: Command): void {
  const overlay = sigma.command('overlay').description('the seven overlays of an indexed tree');
  overlay.action(() => {
    throw usage('which of list and generate?');
  });

  withRepo(overlay.command('list'))
    .description('state, version and counts of each overlay')
    .action(async (options: OverlayOptions) => {
      const { home } = configOf(options);
      const manifest = await manifestOf(options.repo, home);
      print({ json: options.json === true }, listing(manifest), () => render(manifest));
    });

  withRepo(overlay.command('generate'))
    .description('make overlays anew, out of what was mined')
    .requiredOption('--layers <names>', 'O2,O4 for example, or all')
    .action(async (options: OverlayOptions & { layers: string }) => {
      const layers = layersOf(options.layers);
      const { home } = configOf(options);
      const progress = progressTo(process.stderr);
      const abort = new AbortController();
      process.once('SIGINT', () => abort.abort());
      try {
        await indexFolder({
          root: options.repo,
          ...{ home, layers, signal: abort.signal },
          onProgress: progress.onProgress,
        });
      } finally {
        progress.end();
      }
      const manifest = await manifestOf(options.repo, home);
      print({ json: options.json === true }, listing(manifest), () => render(manifest));
    });
}

function withRepo(command: Command): Command {
  return withCommon(command).option('--repo <dir>', 'the indexed tree', '.');
}

async function manifestOf(repo: string, home: string): Promise<Manifest> {
  const root = await realRoot(repo);
  return readManifest(placeOf(root, home), root);
}

/** Throws USAGE for a name that is none. */
function layersOf(text: string): OverlayName[] {
  if (text === 'all') return [...overlayNames];
  return text.split(',').map((name) => {
    const found = overlayNames.find((each) => each === name.trim());
    if (found === undefined) throw usage(`"${name}" is no overlay; there are O1 to O7`);
    return found;
  });
}

/** The shape that scripts rely on. */
function listing({ project, root, shards }: Manifest): object {
  const overlays = overlayNames.map((name) => ({
    overlay: name,
    name: generators[name].name,
    what: generators[name].what,
    items: sum(shards.map((shard) => shard.overlays[name]?.items ?? 0)),
    shards: shards.map(({ alias, overlays: its }) => ({ alias, ...(its[name] ?? missing) })),
  }));
  return { project, root, overlays };
}

const missing = { state: 'missing', generator: '', version: '', items: 0, file: '' };

function render({ shards }: Manifest): string {
  const rows = overlayNames.map((name) => {
    const its = shards.map((shard) => shard.overlays[name] ?? missing);
    const states = [...new Set(its.map(({ state }) => state))].sort();
    const versions = [...new Set(its.map(({ version }) => version))].filter(Boolean);
    const count = (state: string): number => its.filter((each) => each.state === state).length;
    return [
      name,
      generators[name].name,
      states.length === 1
        ? (states[0] ?? '')
        : states.map((each) => `${count(each)} ${each}`).join(', '),
      versions.join(', '),
      String(sum(its.map(({ items }) => items))),
      generators[name].what,
    ];
  });
  return table([['OVERLAY', 'NAME', 'STATE', 'VERSION', 'ITEMS', 'WHAT'], ...rows]);
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
