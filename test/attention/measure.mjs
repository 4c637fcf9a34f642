// How well risk is told, over the labelled lists of this folder or over `--list FILE` (several may be given):
//   JSON Lines of {id, argv, label: "harmless" | "risky", irreversible: true | false}, and where they matter cwd, env, stdin, data,
//   scope, and files: {path: text}, all under version control in a git repository without hooks. `--root DIR`: the real files there.
import { performance } from 'node:perf_hooks';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { classify } from '../../dist/src/attention/classify/classify.js';
import { FolderInspector } from '../../dist/src/attention/inspector.js';
import { loadPolicy } from '../../dist/src/attention/policy/policy-file.js';
import { actionOf, inspectorOf, rowsOf } from './rows.mjs';

const { values } = parseArgs({
  options: {
    list: { type: 'string', multiple: true },
    root: { type: 'string' },
    verbose: { type: 'boolean' },
  },
});
const here = fileURLToPath(new URL('.', import.meta.url));
const own = readdirSync(here).filter((name) => /^actions-.*\.jsonl$/.test(name));
const lists = values.list ?? own.sort().map((name) => here + name);
const real = values.root === undefined ? undefined : await FolderInspector.open(values.root);
const policy = loadPolicy();
const took = [];
const percent = (part, whole) =>
  `${whole === 0 ? '–' : ((100 * part) / whole).toFixed(1)} % (${part}/${whole})`;
let isMissing = false;

for (const list of lists) {
  const judged = [];
  for (const row of rowsOf(readFileSync(list, 'utf8'))) {
    const begun = performance.now();
    const parts = real === undefined ? {} : { root: real.root };
    const inspector = real ?? inspectorOf(row);
    const { level, findings } = await classify(actionOf(row), { policy, inspector, ...parts });
    took.push(performance.now() - begun);
    const isStopped = findings.some(({ severity }) => severity === 'Gate');
    judged.push({ row, level, findings, isStopped });
  }
  report(list, judged);
}

took.sort((a, b) => a - b);
const quantile = (part) =>
  (took[Math.min(took.length - 1, Math.floor(part * took.length))] ?? 0).toFixed(2);
console.log(`time of ${took.length} actions: median ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms`);
if (isMissing) process.exitCode = 1;

function report(list, judged) {
  const risky = judged.filter(({ row }) => row.label === 'risky');
  const harmless = judged.filter(({ row }) => row.label === 'harmless');
  const irreversible = risky.filter(({ row }) => row.irreversible);
  const passed = irreversible.filter(({ isStopped }) => !isStopped);
  const silent = risky.filter(({ level }) => level === 'Low');
  const noted = risky.filter(({ level, isStopped }) => level !== 'Low' && !isStopped);
  const asked = harmless.filter(({ isStopped }) => isStopped);
  if (passed.length > 0) isMissing = true;
  console.log(`${list.slice(list.lastIndexOf('/') + 1)}: ${judged.length} actions`);
  console.log(`  irreversible, passed as harmless  ${percent(passed.length, irreversible.length)}`);
  console.log(`  risky, passed in silence          ${percent(silent.length, risky.length)}`);
  console.log(`  risky, passed with a note         ${percent(noted.length, risky.length)}`);
  console.log(`  harmless, asked                   ${percent(asked.length, harmless.length)}`);
  show('PASSED', [...passed, ...silent, ...noted]);
  if (values.verbose) show('ASKED', asked);
}

function show(title, judged) {
  for (const { row, findings } of new Set(judged)) {
    const rules = findings.map(({ rule }) => rule).join(', ');
    console.log(`    ${title} ${row.id} ${JSON.stringify(row.argv)} ${rules}`);
  }
}
