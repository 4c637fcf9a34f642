import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import { readBuilding, type Building } from '../../../src/pgc/overlay/build-notice.js';
import { indexFolder } from '../../../src/pgc/build/index-folder.js';
import { rulesOf } from '../../../src/pgc/mine/items/rule-file.js';
import type { RulesInForce } from '../../../src/pgc/mine/items/rules-in-force.js';
import type { SecurityRule } from '../../../src/pgc/mine/items/security-rules.js';
import { patternRules } from '../../../src/pgc/mine/items/security.js';
import {
  placeOf,
  readManifest,
  type IndexPlace,
  type Manifest,
  type ManifestShard,
} from '../../../src/pgc/plan/manifest.js';
import { OverlayFile } from '../../../src/pgc/overlay/overlay-file.js';
import { generators } from '../../../src/pgc/overlay/generators.js';
import { overlayNames, type OverlayName } from '../../../src/pgc/shapes.js';
import { realRoot, SourceTree } from '../../../src/pgc/source/source-tree.js';
import { configOf, withCommon, type CommonOptions } from '../options.js';
import { printable, table } from '../../../src/render/terminal.js';
import { print, usage } from '../output.js';
import { progressTo } from './progress.js';

/** More are only counted. */
const languagesShown = 4;
/** Of a file that is read to see whether it is whole. */
const readBytesMax = 64 * 1024 * 1024;

interface OverlayOptions extends CommonOptions {
  repo: string;
}

/** `overlay list|generate|rules`: what is known of a tree, making some of it anew, and by which rules. */
export function addOverlayCommands(sigma: Command): void {
  const overlay = sigma
    .command('overlay')
    .description('list or rebuild the seven overlays of an indexed tree');
  overlay.action(() => {
    throw usage('name a command: list, generate or rules');
  });

  withRepo(overlay.command('list'))
    .description('list the overlays with state, version and item counts')
    .action(async (options: OverlayOptions) => {
      const { home } = configOf(options);
      await printStates(options, home);
    });

  withRepo(overlay.command('rules'))
    .description(
      'list the security rules of O2: the built-in ones as .sigma/security.json changes them',
    )
    .action(async (options: OverlayOptions) => {
      const rules = listedRules(await rulesOf(await SourceTree.open(options.repo)));
      print(options, { rules }, () => renderRules(rules));
    });

  withRepo(overlay.command('generate'))
    .description('rebuild overlays from what was mined')
    .requiredOption('--layers <names>', 'O2,O4 for example, or all')
    .action(async (options: OverlayOptions & { layers: string }) => {
      const layers = layersOf(options.layers);
      const { home } = configOf(options);
      const root = await realRoot(options.repo);
      // What is served may be of a revision; without an index everything is made, of the work tree.
      const { as_of } = await readManifest(placeOf(root, home), root).catch(() => ({ as_of: '' }));
      const progress = progressTo(process.stderr);
      const abort = new AbortController();
      process.once('SIGINT', () => abort.abort());
      process.once('SIGTERM', () => abort.abort());
      try {
        await indexFolder({
          root: options.repo,
          ...{ home, layers, signal: abort.signal, ...(as_of === '' ? {} : { asOf: as_of }) },
          onProgress: progress.onProgress,
        });
      } finally {
        progress.end();
      }
      await printStates(options, home);
    });
}

function withRepo(command: Command): Command {
  return withCommon(command).option('--repo <dir>', 'the indexed tree', '.');
}

/** Throws REPO_UNREADABLE, INDEX_MISSING, INDEX_CORRUPT; INDEX_BUILDING while there is no older one. */
async function printStates(options: OverlayOptions, home: string): Promise<void> {
  const root = await realRoot(options.repo);
  const place = placeOf(root, home);
  // First: a run that ends in between has put its own manifest in place before.
  const building = await readBuilding(place);
  const manifest = await readManifest(place, root).catch((error: unknown) => {
    const isFirst = building !== undefined && asBusError(error).code === 'INDEX_MISSING';
    throw isFirst ? new BusError('INDEX_BUILDING', { path: root }, { cause: error }) : error;
  });
  const shards = await Promise.all(manifest.shards.map((each) => asItStands(each, place)));
  const states = statesOf({ ...manifest, shards }, building);
  print(options, states, () => render(states));
}

/** Throws USAGE for a name that is none. */
function layersOf(text: string): OverlayName[] {
  if (text === 'all') return [...overlayNames];
  return text.split(',').map((name) => {
    const found = overlayNames.find((each) => each === name.trim());
    if (found === undefined) throw usage(`"${name}" is not an overlay; use O1 to O7`);
    return found;
  });
}

type OverlayState = ManifestShard['overlays'][string];

/** The shape that scripts rely on. */
interface States {
  project: string;
  root: string;
  overlays: {
    overlay: OverlayName;
    name: string;
    what: string;
    items: number;
    shards: (OverlayState & { alias: string })[];
  }[];
}

/** `building`: items and version are of the older one, which is served until the new one is. */
function statesOf({ project, root, shards }: Manifest, building: Building | undefined): States {
  const known = new Map(shards.map(({ alias, overlays }) => [alias, overlays]));
  const aliases = [...new Set([...known.keys(), ...(building?.keys() ?? [])])];
  const overlays = overlayNames.map((name) => {
    const its = aliases.map((alias) => {
      const state = known.get(alias)?.[name] ?? missing;
      const isBuilding = building?.get(alias)?.has(name) === true;
      return { alias, ...state, ...(isBuilding && { state: 'building' as const }) };
    });
    const { name: called, what } = generators[name];
    return { overlay: name, name: called, what, items: sum(its), shards: its };
  });
  return { project, root, overlays };
}

/** With what became of its files since they were written. */
async function asItStands(shard: ManifestShard, place: IndexPlace): Promise<ManifestShard> {
  const entries = Object.entries(shard.overlays).map(
    async ([name, state]): Promise<[string, OverlayState]> => {
      const files = [state.file, shard.delta?.overlays[name] ?? ''].filter(Boolean);
      const harms = state.state === 'ready' ? files.map((file) => harmOf(place, file)) : [];
      const reason = (await Promise.all(harms)).find((each) => each !== '') ?? '';
      if (reason === '') return [name, state];
      return [name, { ...state, ...{ state: 'failed', items: 0, version: '', reason } }];
    },
  );
  return { ...shard, overlays: Object.fromEntries(await Promise.all(entries)) };
}

/** Why a file cannot be read; empty: it can. A large one is only looked for. */
async function harmOf({ segments }: IndexPlace, file: string): Promise<string> {
  const path = join(segments, file);
  try {
    if ((await stat(path)).size <= readBytesMax) await OverlayFile.open(path);
    return '';
  } catch (error) {
    return isGone(error) ? 'its file is gone' : 'its file is damaged';
  }
}

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

const missing: OverlayState = {
  ...{ state: 'missing', generator: '', version: '', items: 0, reason: '', file: '' },
};

function render({ overlays }: States): string {
  const rows = overlays.map(({ overlay, name, what, items, shards }) => {
    const states = [...new Set(shards.map(({ state }) => state))].sort();
    const versions = [...new Set(shards.map(({ version }) => version))].filter(Boolean);
    const count = (state: string): number => shards.filter((each) => each.state === state).length;
    return [
      overlay,
      name,
      states.length === 1
        ? (states[0] ?? '')
        : states.map((each) => `${count(each)} ${each}`).join(', '),
      versions.join(', '),
      String(items),
      what,
    ];
  });
  const failures = overlays.flatMap(({ overlay, shards }) =>
    shards
      .filter(({ reason }) => reason !== '')
      .map(({ alias, reason }) => printable(`${overlay} of ${alias} failed: ${reason}`)),
  );
  const failed = overlays.filter(({ shards }) => shards.some(({ reason }) => reason !== ''));
  if (failed.length > 0) {
    const names = failed.map(({ overlay }) => overlay).join(',');
    failures.push(`  sigma overlay generate --layers ${names}    (makes them again)`);
  }
  const head = ['OVERLAY', 'NAME', 'STATE', 'VERSION', 'ITEMS', 'WHAT'];
  return [table([head, ...rows]), ...failures].join('\n');
}

function sum(states: readonly OverlayState[]): number {
  return states.reduce((total, { items }) => total + items, 0);
}

/** The shape that scripts rely on. */
interface ListedRule {
  id: string;
  languages: readonly string[];
  /** How many names of calls it knows; 0 where it looks for a text. */
  calls: number;
  cwe: string;
  severity: string;
  /** `shipped`, or the file of the tree. */
  from: string;
}

function listedRules({ rules, off }: RulesInForce): ListedRule[] {
  const isOn = (id: string) => (language: string) => !off.includes(`${language}/${id}`);
  const patterns = patternRules.map((rule): Omit<SecurityRule, 'text'> => ({
    ...rule,
    ...{ calls: [], languages: rule.languages.filter(isOn(rule.id)) },
  }));
  return [...rules, ...patterns.filter(({ languages }) => languages.length > 0)].map(
    ({ id, languages, calls, cwe, severity, origin = 'shipped' }: Omit<SecurityRule, 'text'>) => ({
      ...{ id, languages, calls: calls.length, cwe, severity, from: origin },
    }),
  );
}

function renderRules(rules: readonly ListedRule[]): string {
  const rows = rules.map(({ id, languages, calls, cwe, severity, from }) => [
    ...[id, severity, cwe || '-', calls === 0 ? 'text' : String(calls), from],
    languages.length > languagesShown ? `${languages.length} languages` : languages.join(', '),
  ]);
  return table([['RULE', 'SEVERITY', 'CWE', 'CALLS', 'FROM', 'LANGUAGES'], ...rows]);
}
