// A day in the life of a task, as real processes: a prompt is queued, what follows from it is attended, a person approves one
// risky action and refuses another, an agent edits files in a sandbox, its result is checked, reviewed twice, and delivered.
// Each process is killed once, at a random moment of the station at which it works, and started again. What happened is
// told by `sigma task story`, printed last.
//
//   npm run campaign:day -- [--runs N] [--seed N] [--json]
//
// Exits with 1 when a claim does not hold.
import { rmSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { claim } from '../claims.mjs';
import { numbersFrom, told } from '../report.mjs';
import { claimsOf } from './claims.mjs';
import { Day } from './day.mjs';

const { json, runs, seed } = numbersFrom('campaign:day', { runs: 1, seed: 1 });
const claims = [];
const rows = [];

for (let at = 0; at < runs; at += 1) {
  const startedMs = performance.now();
  const day = await Day.of(seed + at);
  let failure = '';
  try {
    await day.pass();
    claims.push(...claimsOf(day));
  } catch (error) {
    failure = `${error.stack}\n${day.lastWords()}`;
  } finally {
    await day.end();
  }
  claims.push(claim(`day ${seed + at} came to its end`, failure === '', failure));
  rows.push([
    `day ${seed + at}`,
    `${day.killed()} · ${Math.round((performance.now() - startedMs) / 1_000)} s`,
  ]);
  if (!json) process.stdout.write(`${day.story}\n\n`);
  if (failure === '') rmSync(day.folder, { recursive: true, force: true });
}

process.exitCode = told('days in the life of a task', {
  json,
  figures: { runs, seed, ...Object.fromEntries(rows) },
  claims: merged(claims),
});
process.exit();

/** One line for each claim; of one that failed what each day says. */
function merged(all) {
  const names = [...new Set(all.map(({ name }) => name))];
  return names.map((name) => {
    const its = all.filter((each) => each.name === name);
    const wrong = its.filter(({ holds }) => !holds);
    return claim(name, wrong.length === 0, wrong.map(({ detail }) => detail).join(' | '));
  });
}
