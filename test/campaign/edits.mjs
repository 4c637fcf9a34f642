// Random edits of real code in seven languages: the graph after each refresh must be the one that a run from scratch builds.
//
//   npm run campaign:edits -- [--sources DIR] [--edits N] [--each N] [--compare N] [--seed N]
//
// --edits: how many (100); --each: so many before a refresh (5); --compare: so many before a run from scratch (25).
// --sources: work trees by their short names; what is missing there is fetched. Exits with 1 when anything differs.
import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { runSigma, temporaryFolder } from '../bench/kernel/process.mjs';
import { chance } from '../bench/lookup/random.mjs';
import { treeOf } from '../oracle/sources.mjs';
import { edited } from './edits/edit.mjs';

const indexMsMax = 1_800_000;
/** Differences that are printed of a shard. */
const shownMax = 10;

/** A language each; `part`: a folder of it. */
const sources = [
  { name: 'spf13/cobra', commit: '284f4101043c4b1faebde411caec35a7b6e36494' },
  { name: 'slackapi/bolt-js', commit: '9a45c3c9a390a4d387fb255f7ac01185a726cc07', part: 'src' },
  { name: 'marshmallow-code/marshmallow', commit: '341b927f219205704728c05cd61f04d7e9727523' },
  { name: 'google/gson', commit: '9835b6f90192f79cdf5300c528fc6212455fb6c1', part: 'gson' },
  {
    name: 'BurntSushi/ripgrep',
    commit: '3fce3b5bb0236da2df6d99672afb8a719642eca7',
    part: 'crates',
  },
  { name: 'google/leveldb', commit: '78a352f47ed6c1e9d750545e9b242289185b87e1' },
  { name: 'DaveGamble/cJSON', commit: 'a29814f285cc531c00223743ad3c55cd38c0dc56' },
];
const { values: options } = parseArgs({
  options: {
    sources: { type: 'string' },
    edits: { type: 'string', default: '100' },
    each: { type: 'string', default: '5' },
    compare: { type: 'string', default: '25' },
    seed: { type: 'string', default: '1' },
  },
});
const dist = path.resolve(import.meta.dirname, '../../dist');
const load = (file) => import(pathToFileURL(path.join(dist, file)).href);
const { placeOf, readManifest } = await load('src/pgc/plan/manifest.js');
const { BoundCalls } = await load('src/pgc/format/bound-calls.js');

const [edits, each, compare] = [options.edits, options.each, options.compare].map(Number);
const random = chance(Number(options.seed));
const root = temporaryFolder('edits-tree');
const home = temporaryFolder('edits-home');
for (const { part = '', ...source } of sources) {
  const { root: from } = await treeOf(source, options.sources);
  const to = path.join(root, path.basename(source.name));
  cpSync(path.join(from, part), to, {
    recursive: true,
    filter: (file) => path.basename(file) !== '.git',
  });
}
await index(home);
let differing = 0;
const recent = [];
for (let done = 0; done < edits;) {
  const said = edited(root, random);
  if (said === undefined) continue;
  done += 1;
  recent.push(said);
  if (done % each === 0 || done === edits) await index(home);
  if (done % compare === 0 || done === edits) differing += await differences(done);
}
process.stdout.write(`${edits} edits, ${differing} shards that differ\n`);
process.exitCode = differing > 0 ? 1 : 0;

async function index(at) {
  const { code, stderr } = await runSigma(['index', root, '--json'], {
    home: at,
    timeoutMs: indexMsMax,
  });
  if (code !== 0) throw new Error(`sigma index failed: ${stderr.slice(-500)}`);
}

/** How many shards are not as a run from scratch makes them, byte for byte. */
async function differences(done) {
  const fresh = temporaryFolder('edits-fresh');
  await index(fresh);
  const [kept, made] = [await opened(home), await opened(fresh)];
  const names = [...new Set([...kept.keys(), ...made.keys()])].sort();
  const unlike = names.filter((name) => !isSame(kept.get(name), made.get(name)));
  const edges = [...made.values()].reduce((sum, { bound }) => sum + (bound?.length ?? 0), 0);
  process.stdout.write(
    `after ${done} edits: ${names.length} shards, ${edges} bytes of bindings, ${unlike.length} differ\n`,
  );
  for (const name of unlike) await explain(name, kept.get(name), made.get(name));
  if (unlike.length > 0)
    process.stdout.write(`${recent.map((said) => `    ${said}`).join('\n')}\n`);
  recent.length = 0;
  return unlike.length;
}

async function opened(at) {
  const place = placeOf(root, at);
  const { shards } = await readManifest(place, root);
  return new Map(
    shards.map(({ alias, segment, bound }) => [
      alias,
      {
        place: path.join(place.segments, bound ?? ''),
        segment: readFileSync(path.join(place.segments, segment)),
        bound: bound === undefined ? undefined : readFileSync(path.join(place.segments, bound)),
      },
    ]),
  );
}

function isSame(one, other) {
  return (
    one !== undefined &&
    other !== undefined &&
    one.segment.equals(other.segment) &&
    (one.bound === other.bound || (one.bound?.equals(other.bound ?? Buffer.alloc(0)) ?? false))
  );
}

/** Where the graphs part: the bindings of single sites. */
async function explain(name, kept, made) {
  if (kept === undefined || made === undefined)
    return process.stdout.write(
      `  ${name}: only ${kept === undefined ? 'from scratch' : 'after edits'}\n`,
    );
  process.stdout.write(
    `  ${name}: ${kept.segment.equals(made.segment) ? '' : 'segments differ'}\n`,
  );
  if (kept.bound === undefined || made.bound === undefined) return undefined;
  const [one, other] = [await BoundCalls.open(kept.place), await BoundCalls.open(made.place)];
  let shown = 0;
  for (let site = 0; shown < shownMax && site < made.bound.length; site += 1) {
    const [its, theirs] = [bindingOf(one, site), bindingOf(other, site)];
    if (its === theirs) continue;
    shown += 1;
    process.stdout.write(`    site ${site}: ${its} | from scratch ${theirs}\n`);
  }
  return undefined;
}

function bindingOf(bound, site) {
  try {
    const targets = bound.targetsOf(site).map((id) => {
      const { path: file, container, name, line } = bound.target(id);
      return `${file}#${container}.${name}:${line}`;
    });
    return `${bound.bindingOf(site)} ${targets.join(' ')}`;
  } catch {
    return 'none';
  }
}
