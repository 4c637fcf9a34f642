// One long-lived client of a running lattice, as a program that uses the SDK would write it. Reads the questions
// from stdin as JSON and prints the figures as JSON: node driver.mjs --home SIGMA_HOME
import { once } from 'node:events';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';

const deadlineMs = 30_000;
const readyMsMax = 10_000;

const { values } = parseArgs({ options: { home: { type: 'string' } } });
const dist = path.resolve(import.meta.dirname, '../../../dist');
const load = (file) => import(pathToFileURL(path.join(dist, file)).href);
const { loadConfig } = await load('src/config/config.js');
const { latticeMessages, latticeService, shardMessages } = await load('src/pgc/messages.js');
const { openClient } = await load('services/process.js');

const chunks = [];
process.stdin.on('data', (chunk) => chunks.push(chunk));
await once(process.stdin, 'end');
const { sets, queries, oneShard, runs, warmUps } = JSON.parse(
  Buffer.concat(chunks).toString('utf8'),
);

const config = loadConfig(process.env, { home: values.home });
const identity = { agent: `bench-${process.pid}`, role: 'client', isEphemeral: true };
const client = openClient(config, identity);
try {
  await client.ready({ withinMs: readyMsMax });
  const lattice = `service:${latticeService}`;
  const ask = ({ question }) =>
    request(lattice, latticeMessages.ask, { question, overlays: [], top_k: 5 });
  const askShard =
    (alias) =>
    ({ question }) =>
      request(`agent:${alias}`, shardMessages.ask, { question, overlays: [], top_k: 5 });
  const query = ({ question }) =>
    request(lattice, latticeMessages.query, { question, from: '', max_hops: 6, top_k: 5 });

  // Every measure has questions of its own: the agents remember answers.
  const [asks, shardAsks, ownerAsks] = sets;
  for (const warm of warmUps) await ask(warm);
  const rows = [
    await measure('broker status', asks, () => client.status()),
    await measure('lattice.ask, first time', asks, ask, knownItem),
    await measure('lattice.ask, again', asks, ask, knownItem),
    await measure(`pgc.ask to ${oneShard}`, shardAsks, askShard(oneShard)),
    await measure(
      'pgc.ask to the owner',
      ownerAsks,
      (item) => askShard(item.shard)(item),
      knownItem,
    ),
  ];
  for (const item of queries)
    rows.push(await measure(`lattice.query ${item.id}`, Array(runs).fill(item), query));
  process.stdout.write(`${JSON.stringify({ rows })}\n`);
} finally {
  await client.close();
}

/** One after the other: every item once, nothing in parallel. */
async function measure(name, items, work, judge) {
  const times = [];
  const judged = [];
  const errors = [];
  let cached = 0;
  let notFound = 0;
  for (const item of items) {
    const startedMs = performance.now();
    try {
      const answer = await work(item);
      times.push(performance.now() - startedMs);
      cached += answer.metadata?.cached === true ? 1 : 0;
      if (judge !== undefined) judged.push(judge(item, answer));
      const codes = (answer.errors ?? []).map(({ code }) => code);
      // That there is nothing is an answer too.
      notFound += codes.includes('NOT_FOUND') ? 1 : 0;
      errors.push(...codes.filter((code) => code !== 'NOT_FOUND'));
    } catch (error) {
      errors.push(error.code ?? String(error));
    }
  }
  return { name, times, cached, notFound, judged, errors };
}

async function request(to, message, body) {
  const options = { deadlineMs, isIdempotent: true };
  const reply = await client.request(to, message.type, message.request.encode(body), options);
  return message.answer.decode(reply.body);
}

/** Rank of the documented function among the sources, 0 when it is not there. */
function knownItem({ name, file, line, phrasing }, answer) {
  const isIt = (source) =>
    source.file_path === file &&
    (source.symbol === name || (source.line_start <= line && line <= source.line_end));
  return { phrasing, rank: answer.sources.findIndex(isIt) + 1 };
}
