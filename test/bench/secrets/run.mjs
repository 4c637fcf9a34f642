// How many secrets the rules find in the samples of another scanner, and how many false alarms they raise in sources.
//
//   npm run bench:secrets -- --samples TREE [--without pattern,example] --sources FOLDER [--except gitleaks]
//                            [--files 1000] [--missed]
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
import { isStandIn, samplesIn } from './samples.mjs';

const { values: options } = parseArgs({
  options: {
    samples: { type: 'string' },
    without: { type: 'string', default: '' },
    except: { type: 'string', default: 'gitleaks' },
    sources: { type: 'string' },
    files: { type: 'string', default: '1000' },
    missed: { type: 'boolean', default: false },
  },
});
const sourceName = /\.(?:c|cc|cpp|h|hpp|js|jsx|mjs|ts|tsx|py|go|java|rs)$/;
const bytesMax = 256 * 1024;

if (options.samples !== undefined) recall(options.samples, options.without.split(','));
if (options.sources !== undefined) alarms(options.sources, Number(options.files));

function recall(folder, without) {
  const kinds = new Map();
  const standIns = { all: 0, found: 0 };
  for (const { group, text } of samplesIn(folder)) {
    if (without.includes(group)) continue;
    const isFound = secretsIn(text).length > 0;
    const its = isStandIn(text) ? standIns : (kinds.get(group) ?? { all: 0, found: 0 });
    if (its !== standIns) kinds.set(group, its);
    its.all += 1;
    its.found += isFound ? 1 : 0;
    if (options.missed && !isFound && its !== standIns)
      say(`missed  ${group}  ${text.replace(/\s+/g, ' ').slice(0, 200)}`);
  }
  const all = [...kinds.values()];
  const sum = (of) => all.reduce((total, each) => total + each[of], 0);
  const found = all.filter((each) => each.found > 0).length;
  say(`samples     ${sum('found')} of ${sum('all')} found, ${share(sum('found'), sum('all'))}`);
  say(`kinds       ${found} of ${all.length} with one that is found, ${share(found, all.length)}`);
  say(`stand-ins   ${standIns.found} of ${standIns.all} found; not counted above`);
}

function alarms(folder, count) {
  const except = options.except.split(',');
  const trees = readdirSync(folder).filter((tree) => !except.includes(tree));
  const files = trees.flatMap((tree) => {
    const root = path.join(folder, tree);
    return tracked(root).map((file) => ({ root, file, draw: digestOf(`${tree}/${file}`) }));
  });
  files.sort((one, other) => (one.draw < other.draw ? -1 : 1));
  const [began, drawn] = [performance.now(), []];
  let bytes = 0;
  for (const { root, file } of files) {
    if (drawn.length === count) break;
    const text = textOf(path.join(root, file));
    if (text === undefined) continue;
    const found = secretsIn(text);
    bytes += text.length;
    drawn.push(file);
    const values = new Set();
    for (const { rule, at, end } of found) {
      const value = text.slice(at, end);
      if (values.has(value)) continue;
      values.add(value);
      const line = text.slice(0, at).split('\n').length;
      say(`alarm  ${rule}  ${path.basename(root)}/${file}:${line}  ${shown(value)}`);
    }
  }
  const ms = performance.now() - began;
  say(
    `${drawn.length} source files, ${(bytes / 1e6).toFixed(1)} MB, ${(bytes / 1e3 / ms).toFixed(1)} MB/s`,
  );
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
