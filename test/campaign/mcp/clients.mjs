// The official client, in both revisions over both transports, against processes of `sigma mcp`.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { shardMessages } from '../../../dist/src/pgc/serve/messages.js';
import { connectTo, recordOf, until } from '../agent.mjs';
import { claim } from '../claims.mjs';

const sigma = path.resolve(import.meta.dirname, '../../../services/cli/sigma.mjs');
const waitMs = 10_000;
const flowEdges = 128;
const edgeChars = 16_300;
const maxTokens = 6_000;
const charsPerToken = 4;

const eras = [
  { revision: '2025-11-25', mode: 'legacy' },
  { revision: '2026-07-28', mode: { pin: '2026-07-28' } },
];

/** Resolves with claims. `logs`: what the server over HTTP and the services have printed. */
export async function clientClaims({ home, tree, url, token, logs }) {
  const peer = await hardPeer(home);
  const env = { ...process.env, SIGMA_HOME: home, SIGMA_BUS: '' };
  const claims = [];
  for (const { revision, mode } of eras) {
    const stdio = (errors) => {
      const args = [sigma, 'mcp', '--log', 'info'];
      const transport = new StdioClientTransport({
        ...{ command: process.execPath, args, env, cwd: tree, stderr: 'pipe' },
      });
      transport.stderr.on('data', (chunk) => errors.push(String(chunk)));
      return transport;
    };
    const http = () => overHttp(url, token);
    for (const [transport, open] of Object.entries({ stdio, HTTP: http })) {
      const errors = [];
      const client = new Client(
        { name: 'campaign', version: '1' },
        { versionNegotiation: { mode } },
      );
      await client.connect(open(errors));
      const serverLog = () => (transport === 'HTTP' ? logs().mcp : errors.join(''));
      const traceId = randomBytes(16).toString('hex');
      const its = { client, peer, revision, traceId, serverLog, servicesLog: () => logs().up };
      for (const [what, check] of Object.entries(checks))
        claims.push(await claimed(`${revision} over ${transport}: ${what}`, () => check(its)));
      await client.close();
    }
    for (const wrong of ['', token.slice(1), `${token.slice(0, -1)}x`])
      claims.push(
        await claimed(
          `${revision} over HTTP: no word to a token of ${wrong.length} characters`,
          async () => {
            const client = new Client(
              { name: 'campaign', version: '1' },
              { versionNegotiation: { mode } },
            );
            const failure = await client.connect(overHttp(url, wrong)).catch((error) => error);
            return /401|SERVER_TOKEN/.test(failure?.message) || String(failure);
          },
        ),
      );
  }
  await peer.client.close();
  return claims;
}

/** Each resolves with true, or with what is wrong. */
const checks = {
  'tools, a prompt and a resource': async ({ client, revision }) => {
    const { tools } = await client.listTools();
    const listed = await called(client, 'list_agents', {});
    const { messages } = await client.getPrompt({
      ...{ name: 'discover-then-delegate', arguments: { goal: 'find it' } },
    });
    const { contents } = await client.readResource({ uri: 'sigma://agents' });
    const version = client.getNegotiatedProtocolVersion();
    const had = {
      version,
      tools: tools.length,
      messages: messages.length,
      contents: contents.length,
    };
    const isAll = tools.length > 0 && messages.length > 0 && contents.length > 0;
    return (isAll && version === revision && listed.isError !== true) || JSON.stringify(had);
  },
  'a cancelled call takes its question back': async ({ client, peer }) => {
    const abort = new AbortController();
    const args = { agent: 'hard', question: 'never' };
    const ended = called(client, 'query_agent', args, { signal: abort.signal }).then(
      () => 'answered',
      () => 'cancelled',
    );
    const asked = await until(() => peer.held.pop(), waitMs);
    abort.abort();
    if ((await ended) !== 'cancelled') return 'it was answered';
    return until(() => asked.aborted, waitMs);
  },
  'an answer of 2 MB comes within its bounds, and says so': async ({ client, peer }) => {
    const args = { agent: 'hard', question: 'giant', max_tokens: maxTokens };
    const { content, structuredContent, isError } = await called(client, 'query_agent', args);
    const chars = content[0].text.length + JSON.stringify(structuredContent ?? '').length;
    const isWithin = chars <= maxTokens * charsPerToken && isError !== true;
    const isSaid = /max_tokens/.test(content[0].text);
    return (
      (peer.bytes > 2e6 && isWithin && isSaid) ||
      `${peer.bytes} bytes as ${chars} characters: ${content[0].text.slice(0, 200)}`
    );
  },
  'its trace is in the logs of the server and of the agents': async ({
    client,
    traceId,
    ...its
  }) => {
    const _meta = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    await client.callTool({
      name: 'trace',
      arguments: { from: 'newServer', to: 'addTools' },
      _meta,
    });
    const lines = (log) => log.split('\n').filter((line) => line.includes(traceId));
    return until(() => {
      const asked = lines(its.servicesLog()).filter((line) => line.includes('"asked"'));
      return lines(its.serverLog()).length > 0 && new Set(asked.map(serviceOf)).size >= 2;
    }, waitMs).catch(() => `${lines(its.serverLog())}\n${lines(its.servicesLog())}`);
  },
};

const serviceOf = (line) => /"service":"([^"]+)"/.exec(line)?.[1];

function called(client, name, args, options) {
  return client.callTool({ name, arguments: args }, options);
}

async function claimed(name, check) {
  const found = await check().catch((error) => error.message);
  return claim(name, found === true, found);
}

function overHttp(url, token) {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  return new StreamableHTTPClientTransport(new URL(url), { requestInit });
}

/** An agent that answers with as much as an answer may hold, or not at all. */
async function hardPeer(home) {
  const client = connectTo(home, 'hard');
  const peer = { client, held: [], bytes: 0 };
  await client.ready({ withinMs: waitMs });
  await client.register(recordOf('hard'));
  client.serve({
    [shardMessages.ask.type]: async ({ body, signal }) => {
      const { question } = shardMessages.ask.request.decode(body);
      if (question !== 'giant') {
        peer.held.push(signal);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      }
      const answer = shardMessages.ask.answer.encode(giant(question));
      peer.bytes = answer.length;
      return answer;
    },
  });
  return peer;
}

function giant(question) {
  const edge = {
    ...{ from: 'x'.repeat(edgeChars), to: 'f', site: 'a.c:1', kind: 'call', certainty: 'exact' },
    ...{ agent: 'hard', definition: '', evidence: 0 },
  };
  return {
    ...{ question, prose: 'the giant', clauses: [], evidence: [], unsure: [], next: [] },
    flow: Array.from({ length: flowEdges }, () => edge),
    ...{ confidence: 'high', likelihood: 0.9, partial: false, query_path: [], hops: [] },
    ...{ safety: null, root: '', left_out: [], overlay_warnings: [], errors: [] },
    query_intent: { intent: 'find', entities: [], scope: '', refined_query: '' },
    metadata: {
      ...{ question_hash: '', top_k: 1, elapsed_ms: 1, index_version: '', engine: '' },
      ...{ cached: false, agents_asked: 1, model: null },
    },
  };
}
