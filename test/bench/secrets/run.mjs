// How many secrets the rules find in the samples of another scanner, and how many false alarms they raise in sources.
//
//   npm run bench:secrets -- --samples TREE --sources FOLDER [--except gitleaks]
//                            [--files 1000] [--skip 0] [--missed]
//
// --samples: a work tree of a scanner whose rules are not ours; see samples.mjs for those whose tests are read. --sources: a
// folder of work trees, without those of scanners; so many of their source files are drawn by a hash of their paths. Every alarm is listed, to be
// looked at: one for each value in a file.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { secretsIn } from '../../../dist/src/secrets/secrets.js';
import { isStandIn, isWeak, samplesIn } from './samples.mjs';

const { values: options } = parseArgs({
  options: {
    samples: { type: 'string' },
    except: { type: 'string', default: 'gitleaks' },
    sources: { type: 'string' },
    files: { type: 'string', default: '1000' },
    skip: { type: 'string', default: '0' },
    missed: { type: 'boolean', default: false },
  },
});
const sourceName =
  /\.(?:c|cc|cpp|h|hpp|js|jsx|mjs|ts|tsx|py|go|java|rs|rb|php|cs|kt|swift|scala|sh)$/;
const bytesMax = 256 * 1024;

if (options.samples !== undefined) recall(options.samples);
if (options.sources !== undefined)
  alarms(options.sources, Number(options.skip), Number(options.files));

function recall(folder) {
  const kinds = new Map();
  const [standIns, weak] = [
    { all: 0, found: 0 },
    { all: 0, found: 0 },
  ];
  for (const { group, text, value, at = 0, end = text.length } of samplesIn(folder)) {
    const isFound = secretsIn(text).some((each) => each.at < end && at < each.end);
    const apart = isStandIn(value ?? text) ? standIns : isWeak(value) ? weak : undefined;
    const its = apart ?? kinds.get(group) ?? { all: 0, found: 0 };
    if (apart === undefined) kinds.set(group, its);
    its.all += 1;
    its.found += isFound ? 1 : 0;
    if (options.missed && !isFound && apart === undefined)
      say(
        `missed  ${group}  ${(value ?? '').slice(0, 60)}  ${text.replace(/\s+/g, ' ').slice(0, 200)}`,
      );
  }
  const all = [...kinds.values()];
  const sum = (of) => all.reduce((total, each) => total + each[of], 0);
  const found = all.filter((each) => each.found > 0).length;
  say(`samples     ${sum('found')} of ${sum('all')} found, ${share(sum('found'), sum('all'))}`);
  say(`kinds       ${found} of ${all.length} with one that is found, ${share(found, all.length)}`);
  say(`stand-ins   ${standIns.found} of ${standIns.all} found; not counted above`);
  say(`words       ${weak.found} of ${weak.all} found; not counted above: of words, or short`);
}

/** As many of each tree, so that none is looked at more than others because it is large. */
function drawn(folder, count) {
  const except = options.except.split(',');
  const trees = readdirSync(folder).filter((tree) => !except.includes(tree));
  const queues = trees.map((tree) => {
    const root = path.join(folder, tree);
    const drawOf = (file) => digestOf(`${tree}/${file}`);
    return tracked(root)
      .map((file) => ({ root, file, draw: drawOf(file) }))
      .sort((one, other) => (one.draw < other.draw ? -1 : 1));
  });
  const files = [];
  while (files.length < count && queues.some(({ length }) => length > 0))
    for (const queue of queues) {
      const next = queue.shift();
      const text = next && textOf(path.join(next.root, next.file));
      if (text !== undefined && files.length < count) files.push({ ...next, text });
    }
  return files;
}

function alarms(folder, skip, count) {
  const files = drawn(folder, skip + count).slice(skip);
  const searched = () => files.map(({ text }) => secretsIn(text));
  const found = searched();
  // Once more: rules are read when they are needed first. Time of the processor, whatever else runs.
  const began = process.cpuUsage();
  searched();
  const { user, system } = process.cpuUsage(began);
  let bytes = 0;
  let all = 0;
  for (const [at, { root, file, text }] of files.entries()) {
    bytes += text.length;
    const values = new Set(found[at].map((each) => text.slice(each.at, each.end)));
    all += values.size;
    for (const value of values) {
      const { rule, at: from } = found[at].find((each) => text.slice(each.at, each.end) === value);
      const line = text.slice(0, from).split('\n').length;
      say(`alarm  ${rule}  ${path.basename(root)}/${file}:${line}  ${shown(value)}`);
    }
  }
  say(`${all} alarms in ${files.length} source files, ${(bytes / 1e6).toFixed(1)} MB`);
  say(`${((user + system) / (bytes / 1024)).toFixed(1)} microseconds for each KiB`);
}

function tracked(root) {
  try {
    const out = execFileSync('git', ['-C', root, 'ls-files'], { maxBuffer: 1e9, stdio: 'pipe' });
    return out
      .toString()
      .split('\n')
      .filter((file) => sourceName.test(file));
  } catch {
    return [];
  }
}

function textOf(file) {
  try {
    const text = readFileSync(file, 'utf8');
    return text.length > bytesMax ? undefined : text;
  } catch {
    return undefined;
  }
}

function digestOf(text) {
  return createHash('sha256').update(text).digest('hex');
}

function share(part, whole) {
  return (part / Math.max(1, whole)).toFixed(3);
}

function shown(secret) {
  const line = secret.replace(/\s+/g, ' ');
  return line.length <= 24 ? line : `${line.slice(0, 12)}…${line.slice(-4)}`;
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
