// MCP as others test it: the official conformance suite against `sigma mcp --http` for both revisions, then against the same
// entrance with tools of the suite; and the official client over both transports.
//
//   npm run conformance:mcp -- [--json]
//
// Fetches the suite, and a Node for it where this one is older, into the cache of the user. Exits with 1 when a check fails that
// applies (`applies.mjs`), or a scenario that the revision requires did not run.
import { cpSync, readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { loadConfig } from '../../../dist/src/config/config.js';
import { openLog } from '../../../dist/src/observe/log.js';
import { Bus } from '../../../dist/services/bus.js';
import { HandedOverCalls } from '../../../dist/services/mcp/calls.js';
import { McpHttp } from '../../../dist/services/mcp/http.js';
import { temporaryFolder } from '../../bench/kernel/process.mjs';
import { until } from '../agent.mjs';
import { claim } from '../claims.mjs';
import { Child } from '../processes.mjs';
import { numbersFrom, told } from '../report.mjs';
import { left, leftChecks, rehearsals } from './applies.mjs';
import { clientClaims } from './clients.mjs';
import { forwarderTo } from './forwarder.mjs';
import { rehearsed } from './rehearsed.mjs';
import { fetchedSuite } from './suite.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const sigma = path.join(root, 'services/cli/sigma.mjs');
const upMsMax = 120_000;
const revisions = ['2025-11-25', '2026-07-28'];

const { json } = numbersFrom('conformance:mcp', {});
const home = temporaryFolder('sigma-conformance-home');
const tree = path.join(temporaryFolder('sigma-conformance'), 'tree');
cpSync(path.join(root, 'services/mcp'), tree, { recursive: true });
const env = { ...process.env, SIGMA_HOME: home, SIGMA_BUS: '' };
const started = (name, args) => {
  const child = new Child(name, () =>
    spawn(process.execPath, [sigma, ...args], {
      env,
      cwd: tree,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  child.start();
  return child;
};

const suite = await fetchedSuite();
const up = started('up', ['up', tree, '--log', 'info']);
await until(() => /^ready /m.test(up.output), upMsMax, 200);
const mcp = started('mcp', ['mcp', '--http', '0', '--log', 'info']);
const url = await until(() => /^ready (\S+)$/m.exec(mcp.output)?.[1], upMsMax);
await until(() => /^token in /m.test(mcp.output), upMsMax);
const token = readFileSync(path.join(home, 'mcp/token'), 'utf8').trim();

const rows = [];
const product = await forwarderTo(url, token);
for (const revision of revisions) {
  const found = await suite.checks({ url: product.url, revision, scenarios: [] });
  judge(revision, 'product', found, suite.required(revision));
}
product.end();

const config = loadConfig({ SIGMA_HOME: home });
const log = openLog({ log: 'error' }, { service: 'rehearsal' });
const bus = new Bus({ config, log, folder: tree, as: 'rehearsal', role: 'mcp' });
const calls = new HandedOverCalls();
const offer = { bus, log, calls, tools: rehearsed, isStructured: true };
const entrance = await McpHttp.open({ port: 0, token, offer });
const rehearsal = await forwarderTo(entrance.url, token);
for (const revision of revisions) {
  const scenarios = rehearsals[revision];
  const found = await suite.checks({ url: rehearsal.url, revision, scenarios });
  judge(revision, 'rehearsal', found, scenarios);
}
rehearsal.end();
await entrance[Symbol.asyncDispose]();
calls[Symbol.dispose]();
await bus[Symbol.asyncDispose]();

const claims = [
  ...rows
    .filter(({ outcome }) => outcome !== 'does not apply')
    .map(({ revision, against, scenario, outcome, why }) =>
      claim(`${revision}, ${against}: ${scenario}`, outcome === 'pass', why),
    ),
  ...(await clientClaims({
    home,
    tree,
    url,
    token,
    logs: () => ({ mcp: mcp.output, up: up.output }),
  })),
];
if (!json) process.stdout.write(`${table()}\n`);
process.exitCode = told('MCP conformance', {
  json,
  figures: { suite: `${suite.version} on Node ${suite.node}`, ...counts(), ...(json && { rows }) },
  claims,
});
await mcp.stop();
await up.stop();
process.exit();

function judge(revision, against, found, required) {
  for (const scenario of required)
    if (!found.has(scenario))
      rows.push({ revision, against, scenario, passed: 0, outcome: 'FAIL', why: 'it did not run' });
  for (const [scenario, checks] of found) {
    const failed = checks.filter(({ status }) => status === 'FAILURE');
    const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
    const isLeft = against === 'product' && scenario in left;
    const reasonOf = ({ id }) => leftChecks[`${scenario}:${id}`];
    const wrong = failed.filter((each) => reasonOf(each) === undefined);
    const reasons = new Set(failed.map(reasonOf).filter(Boolean));
    const excused = failed.length - wrong.length;
    const notes = [...reasons].map((why) => `${excused} checks do not apply: ${why}`);
    const row = { revision, against, scenario, passed };
    if (isLeft) rows.push({ ...row, outcome: 'does not apply', why: left[scenario] });
    else if (wrong.length > 0)
      rows.push({ ...row, outcome: 'FAIL', why: wrong.map(said).join('; ') });
    else rows.push({ ...row, outcome: 'pass', why: notes.join('; ') });
  }
}

function said({ id, errorMessage, description }) {
  return `${id}: ${errorMessage ?? description}`;
}

function counts() {
  const kinds = revisions.flatMap((revision) =>
    ['product', 'rehearsal'].map((against) => ({ revision, against })),
  );
  const entries = kinds.map(({ revision, against }) => {
    const its = rows.filter((row) => row.revision === revision && row.against === against);
    const of = (outcome) => its.filter((row) => row.outcome === outcome).length;
    const said = `${of('pass')} pass, ${of('does not apply')} do not apply, ${of('FAIL')} fail`;
    return [`${revision} ${against}`, said];
  });
  return Object.fromEntries(entries);
}

function table() {
  const lines = rows.map(
    ({ revision, against, scenario, outcome, passed, why }) =>
      `| ${revision} | ${against} | ${scenario} | ${outcome}${outcome === 'pass' ? ` (${passed} checks)` : ''} | ${why} |`,
  );
  return [
    '| revision | against | scenario | outcome | note |',
    '|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}
