// Everything that is bad about a tree, its git, its index or its disk: what `sigma` prints, and what must hold.
//
//   npm run campaign:bad-inputs -- [--only WORDS] [--write] [--json]
//
// `--only` runs the cases whose name has these words; `--write` writes bad-inputs.md beside this file.
// Exits with 1 when a claim does not hold. Some cases need root, for a tmpfs, a device or another user: they say so.
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { megabytes, table } from '../bench/kernel/figures.mjs';
import { Case } from './bad-inputs/case.mjs';
import { contents } from './bad-inputs/contents.mjs';
import { damages } from './bad-inputs/damage.mjs';
import { histories } from './bad-inputs/histories.mjs';
import { questions } from './bad-inputs/questions.mjs';
import { reports } from './bad-inputs/reports.mjs';
import { situations } from './bad-inputs/running.mjs';

const parts = {
  'Files and folders': contents,
  Git: histories,
  'A damaged index': damages,
  'While it is built': situations,
  Questions: questions,
  Reports: reports,
};

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const startedMs = performance.now();
const done = [];
for (const [part, cases] of Object.entries(parts)) {
  for (const { name, run } of cases) {
    if (name.includes(options.only)) done.push(await outcomeOf(part, name, run));
  }
}
report();

async function outcomeOf(part, name, run) {
  const at = new Case(name);
  try {
    await run(at);
  } catch (error) {
    at.claim('the case can be run', false, error.stack);
  } finally {
    at.remove();
  }
  const { steps, claims, rows, skipped } = at;
  const failed = claims.filter(({ holds }) => !holds);
  if (!options.json) {
    const state = skipped !== '' ? 'skipped' : failed.length === 0 ? 'holds' : 'FAILED';
    process.stdout.write(`${state.padEnd(8)}${name} (${claims.length} claims) ${skipped}\n`);
    for (const each of failed) process.stdout.write(`          ${each.name}: ${each.detail}\n`);
    if (rows.length > 0) process.stdout.write(`${table(tableOf(rows))}\n`);
  }
  return { part, name, skipped, steps, claims, rows, failed: failed.length };
}

function tableOf(rows) {
  const cells = rows.map(({ input, exit, end, ms, peakRssBytes }) => [
    ...[input, String(exit), end, String(ms), megabytes(peakRssBytes)],
  ]);
  return [['INPUT', 'EXIT', 'ENDS WITH', 'MS', 'MEMORY'], ...cells];
}

function report() {
  const failed = done.filter((each) => each.failed > 0);
  const claims = done.reduce((sum, each) => sum + each.claims.length, 0);
  const skipped = done.filter((each) => each.skipped !== '').length;
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  const line = `${done.length} bad inputs, ${claims} claims, ${failed.length} inputs with a claim that does not hold, ${skipped} skipped; ${seconds} s${slowestOf(done.flatMap(({ rows }) => rows))}`;
  if (options.json) process.stdout.write(`${JSON.stringify({ cases: done })}\n`);
  else process.stdout.write(`\n${line}\n`);
  if (options.write)
    writeFileSync(path.join(import.meta.dirname, 'bad-inputs.md'), documentOf(line));
  process.exitCode = failed.length === 0 ? 0 : 1;
}

function slowestOf(rows) {
  const [slowest] = rows.toSorted((one, other) => other.ms - one.ms);
  if (slowest === undefined) return '';
  const memory = megabytes(Math.max(...rows.map(({ peakRssBytes }) => peakRssBytes)));
  return `\n${rows.length} questions and reports: the slowest took ${slowest.ms} ms (${slowest.input}), the largest ${memory}`;
}

function documentOf(line) {
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim()}, ${megabytes(totalmem())}, Node ${process.versions.node}`;
  const head = [
    '# Bad inputs',
    '',
    `Written by \`npm run campaign:bad-inputs -- --write\`. ${new Date().toISOString().slice(0, 10)}, ${machine}.`,
    '',
    line,
    '',
  ];
  const rows = Object.keys(parts).map((part) =>
    rowOf(
      part,
      done.filter((each) => each.part === part),
    ),
  );
  const columns = ['part', 'inputs', 'claims', 'do not hold', 'skipped', 'slowest', 'memory'];
  const cells = [columns, columns.map(() => '---'), ...rows];
  return `${[...head, ...cells.map((row) => `| ${row.join(' | ')} |`)].join('\n')}\n`;
}

function rowOf(part, its) {
  const claims = its.flatMap((each) => each.claims);
  const steps = its.flatMap((each) => each.steps);
  const slowest = Math.max(0, ...steps.map(({ wallMs }) => wallMs)) / 1_000;
  const largest = Math.max(0, ...steps.map(({ peakRssBytes }) => peakRssBytes));
  return [
    ...[part, its.length, claims.length, claims.filter(({ holds }) => !holds).length],
    ...[its.filter(({ skipped }) => skipped !== '').length],
    ...[`${slowest.toFixed(1)} s`, megabytes(largest)],
  ];
}
