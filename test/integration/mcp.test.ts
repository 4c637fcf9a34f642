import type { Client as McpClient } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { Client } from '../../src/client/client.js';
import { loadConfig } from '../../src/config/config.js';
import { shardMessages } from '../../src/pgc/serve/messages.js';
import type { Answer, Evidence, FlowEdge } from '../../src/pgc/shapes.js';
import { ZeromqLink } from '../../src/transport/zeromq.js';
import { eventually } from '../support/eventually.js';
import { failureOf, httpClient, startHttp, stdioClient, type HttpServer } from '../support/mcp.js';
import { chainAliases, chainRepository } from '../support/repository.js';
import { environment, program, sigmaProcess, startSigma, type Running } from '../support/sigma.js';
import { Stack } from '../support/stack.js';
import { temporaryFolder } from '../support/temporary.js';

/** The longest text that a foreign answer may hold: it must not reach a model as it is. */
const giantChars = 100_000;

let repository: ReturnType<typeof chainRepository>;
let http: HttpServer;
let token: string;
let tester: Client;
let stack: Stack;
const running: Running[] = [];
const clients = new Map<string, McpClient>();
/** What became of the questions to the agent that answers none. */
const held: { signal: AbortSignal; answer: () => void }[] = [];

beforeAll(async () => {
  repository = chainRepository();
  const { home, root, plan } = repository;
  stack = await Stack.open(home, ['manager', 'executor', 'critic'], { root, plan });
  tester = Client.connect({
    link: new ZeromqLink(loadConfig({ SIGMA_HOME: home }).bus),
    identity: { agent: 'tester', role: 'tester', isEphemeral: false },
    clock: systemClock,
    random: Math.random,
  });
  await tester.ready({ withinMs: 5_000 });
  tester.serve({ [shardMessages.ask.type]: answer });
  http = await startHttp(home);
  running.unshift(http);
  token = readFileSync(http.tokenFile, 'utf8').trim();
  const opened = await Promise.all([
    stdioClient(home, { era: 'legacy', cwd: root }),
    stdioClient(home, { era: 'modern', cwd: root, args: ['--as', 'modern'] }),
    httpClient(http.url, token, 'legacy'),
    httpClient(http.url, token, 'modern'),
  ]);
  for (const [at, name] of transports.entries()) clients.set(name, opened[at]!);
});

afterAll(async () => {
  await Promise.all([...clients.values()].map((each) => each.close()));
  await tester.close();
  for (const each of running) {
    each.process.kill('SIGTERM');
    await each.ended;
  }
  await stack[Symbol.asyncDispose]();
  repository.remove();
});

const transports = ['stdio, 2025', 'stdio, 2026', 'HTTP, 2025', 'HTTP, 2026'];
/** Both transports and both versions, where the tools matter more than the way to them. */
const twoTransports = ['stdio, 2026', 'HTTP, 2025'];

/** A real agent on the bus: `giant` is answered with as much as an answer may hold, everything else when the test says so. */
async function answer({ body, signal }: { body: Buffer; signal: AbortSignal }): Promise<Buffer> {
  const { question } = shardMessages.ask.request.decode(body);
  const isGiant = question === 'giant';
  if (!isGiant) {
    await new Promise<void>((resolve) => {
      held.push({ signal, answer: resolve });
      signal.addEventListener('abort', () => resolve());
    });
  }
  const text = 'x"'.repeat(isGiant ? giantChars / 2 : 1);
  const source = (id: number): Evidence => ({
    ...{ id, kind: 'function', name: 'f', container: '', said: text.slice(0, 5_000) },
    ...{ why: [], excerpt: Array(12).fill({ line: 1, text: text.slice(0, 200), decides: true }) },
    ...{ overlay: 'O1', section: 'O1', text: text.slice(0, 5_000), content: '', symbol: 'f' },
    ...{ similarity: 0.9, weight: 1, file_path: 'a.c', line_start: 1, line_end: 1 },
    ...{ blob: '', agent: 'tester' },
  });
  const ids = Array.from({ length: isGiant ? 10 : 1 }, (_, at) => at + 1);
  const edge = (evidence: number): FlowEdge => ({
    ...{ from: text.slice(0, 5_000), to: 'f', site: 'a.c:1', kind: 'call', certainty: 'exact' },
    ...{ agent: 'tester', definition: '', evidence },
  });
  const whole: Answer = {
    question,
    prose: isGiant ? text : 'done',
    clauses: [{ text: text.slice(0, 5_000), status: 'found', evidence: ids }],
    evidence: ids.map(source),
    flow: [...ids, ...ids, 0].map(edge),
    ...{ unsure: [], next: [], confidence: 'high', likelihood: 0.9, partial: false },
    ...{ query_path: [], hops: [], safety: null, root: '' },
    query_intent: { intent: 'find', entities: [], scope: '', refined_query: '' },
    ...{ left_out: [], overlay_warnings: [], errors: [] },
    metadata: {
      ...{ question_hash: '', top_k: 1, elapsed_ms: 1, index_version: '', engine: '' },
      ...{ cached: false, agents_asked: 1, model: null },
    },
  };
  return shardMessages.ask.answer.encode(whole);
}

const call = (client: McpClient, name: string, args: object = {}): Promise<any> =>
  client.callTool({ name, arguments: args as Record<string, unknown> });

const on = (name: string): McpClient => clients.get(name)!;

const tools = [
  'list_agents',
  'query_agent',
  'explore',
  'symbol',
  'query_lattice',
  'ask',
  'locate',
  'callers',
  'callees',
  'implementations',
  'references',
  'trace',
  'blast_radius',
  'security_blast_radius',
  'verify_citations',
  ...['queue', 'queue_run', 'kill'],
  'send_agent_message',
  'list_pending_messages',
  'mark_message_read',
  'delegate_task',
  'task_status',
  'sigma_task_update',
  ...['run', 'push', 'inbox', 'send', 'receive', 'check'],
  'list_gates',
  'judge_gate',
  'attend',
  'critique',
  'critique_history',
];

/** What changes something; the rest only looks. */
const writes =
  /^(send|mark|delegate|sigma|judge)_|^(attend|critique|run|push|queue_run|send|receive|check|kill)$/;

test.each(transports)(
  '%s: every tool is listed with its schemas and what it does',
  async (name) => {
    const listed = (await on(name).listTools()).tools;
    expect(listed.map((each) => each.name).sort()).toEqual([...tools].sort());
    for (const each of listed) {
      expect(each.inputSchema.properties).toHaveProperty('max_tokens');
      expect(each.outputSchema?.properties).toHaveProperty('truncated');
      expect(each.annotations?.readOnlyHint, each.name).toBe(!writes.test(each.name));
    }
    expect(on(name).getInstructions()).toMatch(/^Sigma Bus/);
  },
);

test('what a client is offered by default costs little to read, in the order of its worth', async () => {
  const client = await stdioClient(repository.home, { isPlain: true });
  const { tools: listed } = await client.listTools();
  const said = client.getInstructions() ?? '';
  await client.close();
  const names = ['explore', 'symbol', 'trace', 'locate', 'list_agents', 'query_agent'];
  expect(listed.map((each) => each.name)).toEqual(names);
  expect(countTokens(JSON.stringify({ tools: listed }))).toBeLessThan(2_500);
  expect(countTokens(said)).toBeLessThan(150);
});

/** The client itself checks what it gets against the listed output schema, and throws where it differs. */
test.each(twoTransports)('%s: every tool answers a right question', async (name) => {
  const client = on(name);
  await client.listTools();
  const right = async (tool: string, args: object): Promise<any> => {
    const { structuredContent, content, isError } = await call(client, tool, args);
    expect([tool, isError ?? false, content[0].text], content[0].text).toEqual([
      tool,
      false,
      expect.any(String),
    ]);
    return structuredContent;
  };
  // Broker and hosts share this process: a busy machine makes them look stale for a heartbeat.
  await eventually(async () => {
    const { agents } = await right('list_agents', { role: 'pgc' });
    expect(agents.map((each: any) => [each.alias, each.state]).sort()).toEqual(
      chainAliases.map((alias) => [alias, 'online']),
    );
  });
  expect((await right('list_agents', { path: 'mm/page_alloc.c' })).agents).toMatchObject([
    { alias: 'mm', scope: ['mm'] },
  ]);
  const one = await right('query_agent', {
    agent: 'kernel',
    question: 'dma_alloc_mapped',
    grounding: { overlay_hints: ['O1'], query_hints: ['mapping'] },
  });
  expect(one.evidence[0]).toMatchObject({ overlay: 'O1', agent: 'kernel' });
  const asked = await right('ask', { question: 'How is the ring allocated?' });
  const verified = await right('verify_citations', { citations: asked.evidence });
  expect(verified).toMatchObject({ valid: asked.evidence.length, total: asked.evidence.length });
  const mixed = [asked.evidence[0], { file_path: 'a.c' }];
  const judged = await right('verify_citations', { citations: mixed });
  expect(judged.results).toMatchObject([
    { status: 'valid' },
    { status: 'malformed', reason: 'content is not a text' },
  ]);
  const explored = await right('explore', { question: 'How is the ring allocated?' });
  expect(explored.pieces[0]).toMatchObject({ id: 1, agent: 'drivers' });
  const further = await right('explore', { more: explored.more });
  expect(further.pieces.length).toBe(explored.more_total);
  const named = await right('explore', { names: ['nic_open', 'nic_setup_rx_ring'] });
  expect(named.flow).toMatchObject([{ from: 'nic_open', to: 'nic_setup_rx_ring', evidence: 1 }]);
  const [symbol] = (await right('symbol', { symbol: 'nic_log' })).pieces;
  expect([symbol.symbol, symbol.callers.total]).toEqual(['nic_log', 3]);
  const routed = await right('query_lattice', {
    question: 'How does the nic driver allocate its ring?',
  });
  expect(routed.query_path[0]).toBe('drivers');
  expect(routed.hops[1].via.from).toMatch(/^\S+\.[ch]:\d+$/);
  expect((await right('callers', { symbol: 'nic_log' })).callers).toHaveLength(3);
  expect((await right('callees', { symbol: 'nic_open' })).callees).toContainEqual(
    expect.objectContaining({ symbol: 'nic_setup_rx_ring', file_path: 'drivers/nic/nic_main.c' }),
  );
  const chain = await right('trace', { from: 'nic_open', to: 'alloc_pages_near' });
  expect([chain.found, chain.path.at(0).symbol, chain.path.at(-1).agent]).toEqual([
    true,
    'nic_open',
    'mm',
  ]);
  const located = await right('locate', {
    report: 'nic_open fails: the ring could not be allocated',
  });
  expect(located.files[0].path).toBe('drivers/nic/nic_main.c');
  const blast = await right('blast_radius', { symbol: 'nic_log' });
  expect(blast.consumers.map((each: { symbol: string }) => each.symbol)).toContain('nic_open');
  const security = await right('security_blast_radius', { symbol: 'nic_log' });
  expect(security.target.targets[0].file_path).toBe('drivers/nic/nic_log.c');
});

test.each(twoTransports)('%s: every tool refuses a wrong question with a code', async (name) => {
  const client = on(name);
  const wrong: [string, object, string][] = [
    ['list_agents', { rol: 'pgc' }, 'TOOL_INPUT'],
    ['query_agent', { agent: 'nobody', question: 'x' }, 'UNKNOWN_AGENT'],
    [
      'query_agent',
      { agent: 'mm', question: 'x', grounding: { overlay_hints: ['O9'] } },
      'TOOL_INPUT',
    ],
    ['query_lattice', { question: 'x', max_hops: 99 }, 'TOOL_INPUT'],
    ['query_lattice', { question: 'x', from: 'nobody' }, 'UNKNOWN_AGENT'],
    ['ask', { question: '   ' }, 'EMPTY_QUESTION'],
    ['ask', { question: 'zzyzx qwxyz' }, 'NOT_FOUND'],
    ['explore', {}, 'USAGE'],
    ['explore', { question: 'x', names: ['y'] }, 'USAGE'],
    ['explore', { question: 'zzyzx qwxyz' }, 'NOT_FOUND'],
    ['explore', { names: ['no_such_thing'] }, 'NO_SUCH_SYMBOL'],
    ['explore', { more: '../x' }, 'NOTHING_LEFT'],
    ['symbol', { symbol: 'no_such_thing' }, 'NO_SUCH_SYMBOL'],
    ['locate', { report: 7 }, 'TOOL_INPUT'],
    ['callers', { symbol: 'no_such_thing' }, 'NO_SUCH_SYMBOL'],
    ['callees', { symbol: 'no_such_thing' }, 'NO_SUCH_SYMBOL'],
    ['trace', { from: 'nic_open' }, 'TOOL_INPUT'],
    ['trace', { from: 'no_such_thing', to: 'nic_open' }, 'NO_SUCH_SYMBOL'],
    ['blast_radius', { symbol: 'nic_log', direction: 'left' }, 'TOOL_INPUT'],
    ['security_blast_radius', {}, 'TOOL_INPUT'],
    ['verify_citations', { citations: [] }, 'TOOL_INPUT'],
    ['send_agent_message', { to: 'nobody', message: 'x' }, 'UNKNOWN_AGENT'],
    ['list_pending_messages', { message: 999_999 }, 'NO_SUCH_MESSAGE'],
    ['mark_message_read', { message: 999_999 }, 'NO_SUCH_MESSAGE'],
    ['delegate_task', { task: '' }, 'TOOL_INPUT'],
    ['delegate_task', { task: 'x', runner: 'command' }, 'TASK_INVALID'],
    ['task_status', { id: 'nope' }, 'NO_SUCH_TASK'],
    ['sigma_task_update', { todos: [{ id: 'x', status: 'pending' }] }, 'TASK_UPDATE_INVALID'],
    ['attend', { verb: 'show', context: 'nope' }, 'NO_SUCH_SESSION'],
    ['ask', { question: 'x', max_tokens: 1_000_000 }, 'TOOL_INPUT'],
  ];
  for (const [tool, args, code] of wrong) {
    const failure = failureOf(await call(client, tool, args));
    expect([tool, failure.code, failure.next], JSON.stringify(args)).toEqual([
      tool,
      code,
      expect.stringMatching(/./),
    ]);
  }
  await expect(call(client, 'no_such_tool')).rejects.toThrow('not found');
});

test.each(transports)('%s: progress is told from the beginning, and grows', async (name) => {
  const told: { progress: number; message?: string | undefined }[] = [];
  const answered = on(name).callTool(
    { name: 'query_agent', arguments: { agent: 'tester', question: 'slow' } },
    { onprogress: (each) => told.push(each) },
  );
  await eventually(() => expect(told).not.toEqual([]));
  await eventually(() => expect(held).toHaveLength(1));
  held.pop()?.answer();
  expect((await answered).structuredContent).toMatchObject({ prose: 'done' });
  expect(told[0]?.message).toBe('asking the agent');
  const steps = told.map(({ progress }) => progress);
  expect(steps).toEqual([...new Set(steps)].sort((one, other) => one - other));
});

test('a query across shards tells who was asked', async () => {
  const told: string[] = [];
  const question = 'How does the nic driver allocate its ring?';
  const answered = await on('HTTP, 2026').callTool(
    { name: 'query_lattice', arguments: { question } },
    { onprogress: ({ message }) => told.push(message ?? '') },
  );
  expect(answered.isError ?? false).toBe(false);
  expect(told[0]).toBe('asking from shard to shard');
  expect(told).toContainEqual(expect.stringMatching(/^drivers · .*\d agents asked$/));
});

test.each(transports)('%s: a call that is cancelled takes its request back', async (name) => {
  const abort = new AbortController();
  const answered = on(name)
    .callTool(
      { name: 'query_agent', arguments: { agent: 'tester', question: 'never' } },
      { signal: abort.signal },
    )
    .then(
      () => 'answered',
      () => 'cancelled',
    );
  await eventually(() => expect(held).toHaveLength(1));
  abort.abort();
  expect(await answered).toBe('cancelled');
  const [asked] = held.splice(0);
  await eventually(() => expect(asked?.signal.aborted).toBe(true));
  expect((await call(on(name), 'list_agents')).structuredContent.total).toBeGreaterThan(4);
});

test.each(twoTransports)('%s: an answer of many pages comes bounded, and says so', async (name) => {
  await on(name).listTools();
  for (const max_tokens of [500, 6_000, 25_000]) {
    const args = { agent: 'tester', question: 'giant', max_tokens };
    const { content, structuredContent } = await call(on(name), 'query_agent', args);
    const chars = content[0].text.length + JSON.stringify(structuredContent).length;
    expect(chars).toBeLessThanOrEqual(max_tokens * 4);
    expect(structuredContent).toMatchObject({ truncated: true, total: 10 });
    // What is left refers to nothing that is not.
    const kept = structuredContent.evidence.map(({ id }: Evidence) => id);
    const { flow, clauses } = structuredContent;
    for (const id of [...flow, ...clauses].flatMap(({ evidence }) => evidence))
      expect([0, ...kept]).toContain(id);
    expect(structuredContent.rest).toMatch(/max_tokens/);
  }
});

test('a long list comes in pages that add up to all of it', async () => {
  const client = on('stdio, 2025');
  const pages = [];
  for (let offset = 0; ;) {
    const args = { role: 'pgc', offset, max_tokens: 500 };
    const { structuredContent: page } = await call(client, 'list_agents', args);
    pages.push(...page.agents);
    offset += page.shown;
    expect(page.truncated).toBe(offset < page.total);
    if (!page.truncated) break;
    expect(page.rest).toContain(`offset ${offset}`);
  }
  expect(pages.map((each) => each.alias).sort()).toEqual(chainAliases);
});

test('two agents write to each other, and what is read is settled for good', async () => {
  const { home } = repository;
  const [ann, bob] = await Promise.all([
    stdioClient(home, { args: ['--as', 'ann'] }),
    stdioClient(home, { args: ['--as', 'bob'], era: 'modern' }),
  ]);
  try {
    await eventually(async () => {
      const { agents } = (await call(ann, 'list_agents')).structuredContent;
      expect(agents).toContainEqual(expect.objectContaining({ id: 'bob', state: 'online' }));
    });
    const long = `read mm first: ${'"long" '.repeat(2_000)}the end`;
    const message = { to: 'bob', message: long, id: 'once' };
    const sent = (await call(ann, 'send_agent_message', message)).structuredContent;
    expect((await call(ann, 'send_agent_message', message)).structuredContent).toEqual(sent);
    const { messages, you } = (await call(bob, 'list_pending_messages')).structuredContent;
    expect([you, messages.length]).toEqual(['bob', 1]);
    expect(messages[0]).toMatchObject({ from: 'ann', seq: sent.message, body_chars: long.length });

    let read = '';
    while (read.length < long.length) {
      const part = { message: sent.message, offset: read.length, max_tokens: 1_000 };
      const one = (await call(bob, 'list_pending_messages', part)).structuredContent.messages[0];
      read += one.body;
    }
    expect(read).toBe(long);
    // It is bob's, not ann's, to settle.
    const not = failureOf(await call(ann, 'mark_message_read', { message: sent.message }));
    expect(not.code).toBe('NO_SUCH_MESSAGE');

    const { reply_to, id } = messages[0];
    await call(bob, 'mark_message_read', { message: sent.message });
    expect((await call(bob, 'list_pending_messages')).structuredContent.messages).toEqual([]);
    const again = await call(bob, 'mark_message_read', { message: sent.message });
    expect(failureOf(again).code).toBe('NO_SUCH_MESSAGE');

    await call(bob, 'send_agent_message', { to: reply_to, message: 'done', in_reply_to: id });
    const replies = (await call(ann, 'list_pending_messages')).structuredContent.messages;
    expect(replies).toMatchObject([{ from: 'bob', body: 'done', correlation: 'once' }]);
    await call(ann, 'mark_message_read', { message: replies[0].seq });
    expect((await call(ann, 'list_pending_messages')).structuredContent.total).toBe(0);
  } finally {
    await Promise.all([ann.close(), bob.close()]);
  }
});

test('agents, topology and shards are resources, and shards complete by name', async () => {
  const client = on('stdio, 2025');
  const json = async (uri: string): Promise<any> => {
    const [content] = (await client.readResource({ uri })).contents;
    return JSON.parse((content as { text: string }).text);
  };
  const uris = (await client.listResources()).resources.map((each) => each.uri);
  expect(uris).toEqual(
    expect.arrayContaining(['sigma://agents', 'sigma://topology', 'sigma://shards/mm']),
  );
  expect((await json('sigma://agents')).agents.length).toBeGreaterThan(4);
  expect((await json('sigma://topology')).edges).toContainEqual(
    expect.objectContaining({ from: 'drivers', to: 'include' }),
  );
  expect(await json('sigma://shards/mm')).toMatchObject({
    alias: 'mm',
    scope: ['mm'],
    terms: expect.arrayContaining(['alloc']),
  });
  await expect(client.readResource({ uri: 'sigma://shards/nobody' })).rejects.toThrow(
    /UNKNOWN_AGENT/,
  );
  const ref = { type: 'ref/resource' as const, uri: 'sigma://shards/{agent}' };
  const { completion } = await client.complete({ ref, argument: { name: 'agent', value: 'm' } });
  expect(completion.values).toEqual(['mm']);
});

test('the prompt tells an agent to look round, to ask the owners and to check', async () => {
  const { messages } = await on('HTTP, 2025').getPrompt({
    name: 'discover-then-delegate',
    arguments: { goal: 'find the leak' },
  });
  const { text } = messages[0]!.content as { text: string };
  for (const each of ['find the leak', 'list_agents', 'delegate_task', 'verify_citations'])
    expect(text).toContain(each);
});

test('HTTP lets nobody in without the token, or under a foreign name', async () => {
  expect(statSync(http.tokenFile).mode & 0o777).toBe(0o600);
  expect(http.output()).not.toContain(token);
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const ask = (path: string, headers: Record<string, string>, body = ping): Promise<number> =>
    new Promise((resolve, reject) => {
      const asked = request(
        new URL(path, http.url),
        { method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      // Who refuses a body need not read it to its end: the connection may break before the answer is read.
      asked.on('error', (error: NodeJS.ErrnoException) =>
        ['EPIPE', 'ECONNRESET'].includes(error.code ?? '') ? resolve(413) : reject(error),
      );
      asked.end(body);
    });
  const authorization = `Bearer ${token}`;
  expect(await ask('/mcp', {})).toBe(401);
  expect(await ask('/mcp', { authorization: `Bearer ${token.slice(1)}` })).toBe(401);
  expect(await ask(`/mcp?token=${token}`, {})).toBe(401);
  expect(await ask('/mcp', { authorization, host: 'evil.example' })).toBe(403);
  expect(await ask('/mcp', { authorization, origin: 'https://evil.example' })).toBe(403);
  expect(await ask('/', { authorization })).toBe(404);
  expect(await ask('/mcp', { authorization, 'mcp-session-id': 'unknown' })).toBe(404);
  const accept = 'application/json, text/event-stream';
  const large = ' '.repeat(4 * 1024 * 1024) + ping;
  expect(await ask('/mcp', { authorization, accept }, large)).toBe(413);
});

test('of more HTTP sessions than there may be the one that was silent longest is forgotten', async () => {
  const its = await startHttp(repository.home, ['--as', 'sessions']);
  running.unshift(its);
  const ask = (body: object, session?: string): Promise<Response> =>
    fetch(its.url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    });
  const begin = async (): Promise<string> => {
    const answer = await ask({ method: 'initialize', params: initialize });
    await answer.text();
    return answer.headers.get('mcp-session-id') ?? '';
  };
  const isKnown = async (session: string): Promise<boolean> => {
    const answer = await ask({ method: 'ping' }, session);
    await answer.text();
    return answer.status === 200;
  };
  const sessions: string[] = [];
  for (let n = 0; n < 64; n += 1) sessions.push(await begin());
  // The first has something to say: now the second was silent longest.
  expect(await isKnown(sessions[0]!)).toBe(true);
  await begin();
  expect([await isKnown(sessions[0]!), await isKnown(sessions[1]!)]).toEqual([true, false]);
});

test('servers of one folder have names of their own, and the first the same each time', async () => {
  const { home, root } = repository;
  const nameOf = async (client: McpClient): Promise<string> =>
    (await call(client, 'list_agents')).structuredContent.you;
  const first = await nameOf(on('stdio, 2025'));
  const second = await stdioClient(home, { cwd: root });
  expect([first, await nameOf(second)]).toEqual([
    expect.stringMatching(/^mcp-[0-9a-f]{12}$/),
    `${first}-2`,
  ]);
  await second.close();
});

test('without a broker every tool says so, and works as soon as there is one', async () => {
  const home = temporaryFolder();
  const client = await stdioClient(home.path);
  let bus: Running | undefined;
  try {
    const failure = failureOf(await call(client, 'ask', { question: 'x' }));
    expect(failure).toMatchObject({ code: 'NO_BROKER', retryable: true });
    expect(failure.next).toContain('sigma up');
    bus = startSigma(home.path, ['bus']);
    await eventually(async () =>
      expect((await call(client, 'list_agents')).structuredContent?.agents).toHaveLength(1),
    );
    expect(failureOf(await call(client, 'ask', { question: 'x' })).code).toBe('NO_RESPONDER');
  } finally {
    await client.close();
    bus?.process.kill('SIGTERM');
    await bus?.ended;
    home.remove();
  }
});

test('on stdout there is the protocol and nothing else, whatever comes in', async () => {
  const lines = [
    { id: 1, method: 'initialize', params: initialize },
    { method: 'notifications/initialized' },
  ].map((each) => JSON.stringify({ jsonrpc: '2.0', ...each }));
  const tooLong = 'a'.repeat(10_000_000);
  const last = { id: 2, method: 'tools/call', params: { name: 'list_agents', arguments: {} } };
  const input = [
    ...lines,
    'no json',
    '{"foo":1}',
    tooLong,
    JSON.stringify({ jsonrpc: '2.0', ...last }),
  ];
  const { stdout } = await sigmaProcess(repository.home, ['mcp', '--structure'], {
    input: `${input.join('\n')}\n`,
  });
  const said = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(said.map((each) => [each.id, each.error?.data?.code])).toEqual([
    [1, undefined],
    [null, 'TOO_LARGE'],
    [2, undefined],
  ]);
  expect(said[2].result.structuredContent.agents.length).toBeGreaterThan(4);
});

const initialize = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
};

test('SIGTERM ends it with 0, while its input is open and a call goes on', async () => {
  const child = spawn(process.execPath, [program, 'mcp'], { env: environment(repository.home) });
  const ended = new Promise((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal)),
  );
  const args = { agent: 'tester', question: 'never' };
  for (const each of [
    { id: 1, method: 'initialize', params: initialize },
    { id: 2, method: 'tools/call', params: { name: 'query_agent', arguments: args } },
  ])
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...each })}\n`);
  await eventually(() => expect(held).toHaveLength(1));
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  const [asked] = held.splice(0);
  await eventually(() => expect(asked?.signal.aborted).toBe(true));
});
