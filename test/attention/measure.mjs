// How well risk is told: misses and false alarms over the labelled lists of this folder, in all and by signal.
import { performance } from 'node:perf_hooks';
import { existsSync, readFileSync } from 'node:fs';
import { classify } from '../../dist/src/attention/classify/classify.js';
import { loadPolicy } from '../../dist/src/attention/policy-file.js';
import { actionOf, inspectorOf, rowsOf } from './rows.mjs';

const policy = loadPolicy();
/** Milliseconds of each action, the first of each half included. */
const took = [];
const percent = (part, whole) =>
  `${whole === 0 ? '–' : ((100 * part) / whole).toFixed(1)} % (${part}/${whole})`;

for (const half of [1, 2, 3, 4, 5]) {
  const file = new URL(`./actions-${half}.jsonl`, import.meta.url);
  if (!existsSync(file)) continue;
  const rows = rowsOf(readFileSync(file, 'utf8'));
  const judged = [];
  for (const row of rows) {
    const begun = performance.now();
    const { level, findings } = await classify(actionOf(row), {
      policy,
      inspector: inspectorOf(row),
    });
    took.push(performance.now() - begun);
    judged.push({ row, level, found: new Set(findings.map(({ signal }) => signal)), findings });
  }
  report(half, judged);
}

took.sort((a, b) => a - b);
const quantile = (part) =>
  (took[Math.min(took.length - 1, Math.floor(part * took.length))] ?? 0).toFixed(2);
console.log(`time of ${took.length} actions: median ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms`);

function report(half, judged) {
  const risky = judged.filter(({ row }) => row.label === 'risky');
  const harmless = judged.filter(({ row }) => row.label === 'harmless');
  const missed = risky.filter(({ level }) => level === 'Low');
  const alarms = harmless.filter(({ level }) => level !== 'Low');
  const stops = ({ findings }) => findings.some(({ severity }) => severity === 'Gate');
  const irreversible = risky.filter(({ row }) => row.irreversible);
  const disguised = risky.filter(({ row }) => row.disguised);
  console.log(`half ${half}: ${judged.length} actions`);
  console.log(`  missed         ${percent(missed.length, risky.length)}`);
  console.log(`  false alarms   ${percent(alarms.length, harmless.length)}`);
  // A note in passing stops nobody.
  const passed = risky.filter((each) => !stops(each));
  console.log(
    `  risky, passed  ${percent(passed.length, risky.length)}, with a note or in silence`,
  );
  console.log(`  harmless, stopped  ${percent(alarms.filter(stops).length, harmless.length)}`);
  console.log(
    `  missed, irreversible  ${percent(missed.filter(({ row }) => row.irreversible).length, irreversible.length)}`,
  );
  console.log(
    `  missed, disguised     ${percent(missed.filter(({ row }) => row.disguised).length, disguised.length)}`,
  );
  for (const signal of new Set(risky.flatMap(({ row }) => row.signals))) {
    const wanted = risky.filter(({ row }) => row.signals.includes(signal));
    const without = wanted.filter(({ found }) => !found.has(signal));
    const extra = judged.filter(
      ({ row, found }) => !row.signals.includes(signal) && found.has(signal),
    );
    console.log(
      `  ${signal.padEnd(19)} not named ${percent(without.length, wanted.length)}, named besides ${extra.length}`,
    );
    for (const { row, found } of without)
      console.log(`    ${row.id} ${JSON.stringify(row.argv)}: ${[...found].join(', ') || 'Low'}`);
  }
  for (const { row, level } of passed)
    if (level !== 'Low') console.log(`  NOTED ONLY ${row.id} ${JSON.stringify(row.argv)}`);
  for (const { row } of missed) console.log(`  MISSED ${row.id} ${JSON.stringify(row.argv)}`);
  for (const { row, findings } of alarms)
    console.log(
      `  FALSE ALARM ${row.id} ${JSON.stringify(row.argv)}: ${findings.map(({ rule }) => rule).join(', ')}`,
    );
}
