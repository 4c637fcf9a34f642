import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { modelRunner } from '../../../src/executor/runners/model.js';
import { nothingGathered } from '../../../src/delegation/grounding/gathered.js';
import { readTask } from '../../../src/delegation/task/schema.js';
import { Budget } from '../../../src/model/budget.js';
import { Chat, type ChatOptions, type ChatSettings } from '../../../src/model/chat.js';
import {
  chatLimits,
  type Delta,
  type Message,
  type Tool,
} from '../../../src/model/conversation.js';
import { eventually } from '../../support/eventually.js';
import { ModelServer, type ModelRule } from '../../support/model-server.js';

const key = 'a-secret-key';
const never = new AbortController().signal;
const quick = { 'retry-after-ms': '1' };
let server: ModelServer;

beforeAll(async () => {
  server = await ModelServer.open();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** A port to the server, which says this from now on; a rule alone is an answer to anything. */
async function chatOf(
  script: (ModelRule | ModelRule['answer'])[],
  more: Partial<ChatSettings & ChatOptions> = {},
): Promise<Chat> {
  await server.play(script.map((each) => ('answer' in each ? each : { answer: each })));
  const settings = { url: server.url, model: 'small', keyEnv: 'SIGMA_MODEL_KEY', ...more };
  return new Chat(settings, { env: { SIGMA_MODEL_KEY: key }, ...more });
}

/** One after the other, each once. */
const inTurn = (...answers: ModelRule['answer'][]): ModelRule[] =>
  answers.map((answer) => ({ times: 1, answer }));

const user = (text: string): Message[] => [{ role: 'user', text }];
const lookUp: Tool = {
  name: 'look_up',
  description: 'Finds a symbol.',
  parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};
const tools = [lookUp];

function heard(): { deltas: Delta[]; onDelta: (delta: Delta) => void } {
  const deltas: Delta[] = [];
  return { deltas, onDelta: (delta) => deltas.push(delta) };
}

test('the key goes along, a passing failure is tried again, tokens are counted', async () => {
  const chat = await chatOf(inTurn({ status: 503, headers: quick }, { text: 'It does.' }));
  expect(await chat.ask('rules', 'question', never)).toEqual({ text: 'It does.', tokens: 42 });
  const asked = await server.requests();
  expect(asked).toHaveLength(2);
  expect(asked[1]).toMatchObject({
    path: '/v1/chat/completions',
    authorization: `Bearer ${key}`,
    body: { model: 'small', messages: [{ role: 'system' }, { content: 'question' }] },
  });
});

test.each([408, 409, 429, 500, 502])(
  'status %i is tried again, three times in all',
  async (status) => {
    const chat = await chatOf([{ status, headers: quick }]);
    const failed = chat.converse(user('?'), { signal: never });
    await expect(failed).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', retryable: true });
    expect(await server.requests()).toHaveLength(3);
  },
);

test.each([400, 401, 404, 307])('status %i is a refusal, told without the key', async (status) => {
  const chat = await chatOf([{ status, headers: { location: `${server.url}/elsewhere` } }]);
  const refused = chat.converse(user('?'), { signal: never });
  await expect(refused).rejects.toMatchObject({ code: 'MODEL_REFUSED', retryable: false });
  await expect(refused).rejects.toThrow('no: Bearer …');
  expect(await server.requests()).toHaveLength(1);
});

test('who wants to be left alone for long is not asked again, and the caller is told for how long', async () => {
  const chat = await chatOf([{ status: 429, headers: { 'retry-after': '3600' } }]);
  const failed = chat.converse(user('?'), { signal: never });
  await expect(failed).rejects.toMatchObject({
    code: 'MODEL_UNAVAILABLE',
    retryAfterMs: 3_600_000,
  });
  expect(await server.requests()).toHaveLength(1);
});

test('a conversation with calls and their results is sent as it was', async () => {
  const chat = await chatOf([
    { match: '^found', answer: { text: 'It opens.' } },
    { answer: { calls: [{ id: 'one', name: 'look_up', arguments: { name: 'open' } }] } },
  ]);
  const messages = user('What does open do?');
  const first = await chat.converse(messages, { signal: never, tools });
  expect(first).toEqual({
    ...{ text: '', finish: 'calls' },
    calls: [{ id: 'one', name: 'look_up', arguments: { name: 'open' } }],
    usage: { prompt: 30, completion: 12, total: 42, isEstimated: false },
  });
  messages.push({ role: 'assistant', text: first.text, calls: first.calls });
  messages.push({ role: 'tool', callId: 'one', text: 'found: int open(void)' });
  const second = await chat.converse(messages, { signal: never, tools });
  expect(second).toMatchObject({ text: 'It opens.', calls: [], finish: 'stop' });
  const [, { body }] = (await server.requests()) as [unknown, { body: any }];
  const { name, description, parameters } = lookUp;
  expect(body).not.toHaveProperty('stream_options');
  expect(body.tools).toEqual([{ type: 'function', function: { name, description, parameters } }]);
  expect(body.messages).toEqual([
    { role: 'user', content: 'What does open do?' },
    {
      ...{ role: 'assistant', content: null },
      tool_calls: [
        {
          id: 'one',
          type: 'function',
          function: { name: 'look_up', arguments: '{"name":"open"}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'one', content: 'found: int open(void)' },
  ]);
});

test.each([false, true])(
  'a stream is put together (one index for all calls: %s)',
  async (shared) => {
    const calls = [
      { id: 'one', name: 'look_up', arguments: { name: 'open' } },
      { id: 'two', name: 'look_up', arguments: { name: 'close' } },
    ];
    const chat = await chatOf([{ text: 'I look them up.', calls, parts: 4, sharedIndex: shared }]);
    const { deltas, onDelta } = heard();
    const answer = await chat.converse(user('?'), { signal: never, tools, onDelta });
    expect(answer).toEqual({
      ...{ text: 'I look them up.', calls, finish: 'calls' },
      usage: { prompt: 30, completion: 12, total: 42, isEstimated: false },
    });
    const texts = deltas.flatMap((each) => (each.kind === 'text' ? each.text : []));
    expect(texts).toHaveLength(4);
    expect(texts.join('')).toBe(answer.text);
    const second = deltas.flatMap((each) =>
      each.kind === 'call' && each.at === 1 ? each.arguments : [],
    );
    expect(second.join('')).toBe('{"name":"close"}');
  },
);

test.each([false, true])(
  'a call that cannot be run costs the others nothing (streamed: %s)',
  async (streams) => {
    const long = { name: 'x'.repeat(chatLimits.argumentsBytes) };
    const chat = await chatOf([
      {
        calls: [
          { id: 'broken', name: 'look_up', arguments: '{"name": "op' },
          { id: 'list', name: 'look_up', arguments: '[1]' },
          { id: 'unknown', name: 'sing', arguments: {} },
          { id: 'long', name: 'look_up', arguments: long },
          { id: 'plain', name: 'look_up', arguments: '' },
        ],
      },
    ]);
    const more = streams ? { onDelta: () => undefined } : {};
    const { calls } = await chat.converse(user('?'), { signal: never, tools, ...more });
    expect(calls.map(({ id, error }) => [id, error?.code])).toEqual([
      ...['broken', 'list', 'unknown', 'long'].map((id) => [id, 'MODEL_CALL_INVALID']),
      ['plain', undefined],
    ]);
    expect(calls.every((each) => Object.keys(each.arguments).length === 0)).toBe(true);
    expect(calls[0]!.error!.message).toContain('its arguments are no JSON');
    expect(calls[3]!.error!.message).toContain(`longer than ${chatLimits.argumentsBytes} bytes`);
  },
);

test('calls without an id are told apart, and get one', async () => {
  const calls = ['open', 'close'].map((name) => ({ id: '', name: 'look_up', arguments: { name } }));
  const chat = await chatOf([{ calls }]);
  for (const more of [{}, { onDelta: () => undefined }]) {
    const answer = await chat.converse(user('?'), { signal: never, tools, ...more });
    expect(answer.calls.map((each) => each.arguments.name)).toEqual(['open', 'close']);
    expect(new Set(answer.calls.map(({ id }) => id)).size).toBe(2);
    expect(answer.calls.every(({ id }) => id !== '')).toBe(true);
  }
});

test('a name that has no end is cut', async () => {
  const name = 'x'.repeat(chatLimits.answerBytes - 10);
  const chat = await chatOf([
    { match: 'long', answer: { calls: [{ id: 'one', name, arguments: '' }] } },
    { answer: { calls: [{ id: 'one', name: `${name}${name}`, arguments: '' }] } },
  ]);
  const { calls } = await chat.converse(user('long'), { signal: never, tools });
  expect(calls[0]!.error!.message.length).toBeLessThan(200);
  const endless = chat.converse(user('?'), { signal: never, tools });
  await expect(endless).rejects.toMatchObject({ code: 'MODEL_ANSWER_TOO_LARGE' });
});

const schema = { name: 'verdict', shape: z.object({ ok: z.boolean() }) };

test('an answer by a schema is read; one that is wrong may be put right once', async () => {
  const chat = await chatOf(
    inTurn({ text: '{"ok": "yes"}' }, { text: '```json\n{"ok": true}\n```' }),
  );
  const { deltas, onDelta } = heard();
  const answer = await chat.converse(user('?'), { signal: never, schema, onDelta });
  expect(answer).toMatchObject({ value: { ok: true }, usage: { total: 84 } });
  expect(deltas.filter(({ kind }) => kind === 'again')).toHaveLength(1);
  const [first, second] = (await server.requests()).map(({ body }) => body);
  expect(first.response_format).toMatchObject({
    type: 'json_schema',
    json_schema: { name: 'verdict', strict: true, schema: { required: ['ok'] } },
  });
  expect(second.messages[1]).toEqual({ role: 'assistant', content: '{"ok": "yes"}' });
  expect(second.messages[2].content).toContain('ok: Invalid input');
});

test('a schema of the caller goes along; two answers that it does not fit are MODEL_INVALID', async () => {
  const chat = await chatOf([{ text: 'Yes!' }]);
  const json = { type: 'object' };
  const invalid = chat.converse(user('?'), {
    signal: never,
    schema: { ...schema, json, strict: false },
  });
  await expect(invalid).rejects.toMatchObject({ code: 'MODEL_INVALID' });
  const asked = await server.requests();
  expect(asked).toHaveLength(2);
  expect(asked[0]!.body.response_format.json_schema).toEqual({
    ...{ name: 'verdict', schema: json, strict: false },
  });
});

test.each<[string, ModelRule['answer'], string]>([
  ['a refusal', { refusal: 'I must not.' }, 'MODEL_REFUSED'],
  ['a filter', { text: 'It', finish: 'content_filter' }, 'MODEL_REFUSED'],
  ['nothing', { text: ' ' }, 'MODEL_REFUSED'],
  ['a part', { text: 'It', finish: 'length' }, 'MODEL_TRUNCATED'],
  ['too much', { text: 'long ', repeat: chatLimits.answerBytes / 4 }, 'MODEL_ANSWER_TOO_LARGE'],
  [
    'too many calls',
    { calls: Array(chatLimits.calls + 1).fill({ name: 'look_up' }) },
    'MODEL_ANSWER_TOO_LARGE',
  ],
])('%s is a coded error, plain and streamed', async (_, answer, code) => {
  const chat = await chatOf([answer]);
  for (const more of [{}, { onDelta: () => undefined }])
    await expect(chat.converse(user('?'), { signal: never, tools, ...more })).rejects.toMatchObject(
      {
        code,
      },
    );
});

test.each<[string, ModelRule['answer'], string]>([
  ['no JSON', { raw: '{"choices": [' }, 'MODEL_INVALID'],
  ['a page', { raw: '<html></html>', headers: { 'content-type': 'text/html' } }, 'MODEL_INVALID'],
  ['another object', { raw: '{}' }, 'MODEL_INVALID'],
  ['no choice', { raw: '{"choices": []}' }, 'MODEL_REFUSED'],
  ['null', { raw: '{"choices": [null]}' }, 'MODEL_REFUSED'],
])('a body that is %s is a coded error', async (_, answer, code) => {
  const chat = await chatOf([answer]);
  await expect(chat.converse(user('?'), { signal: never })).rejects.toMatchObject({ code });
});

test.each<[string, string, string]>([
  ['no JSON', 'data: {"choices"\n\n', 'MODEL_INVALID'],
  ['an error', `data: {"error": {"message": "of ${key}"}}\n\n`, 'MODEL_UNAVAILABLE'],
  ['no end', 'data: {"choices": [{"delta": {"content": "It"}}]}\n\n', 'MODEL_UNAVAILABLE'],
  ['null', 'data: null\n\ndata: {"choices": [null]}\n\n', 'MODEL_UNAVAILABLE'],
])('a stream with %s is a coded error', async (_, raw, code) => {
  const chat = await chatOf([{ raw }]);
  const failed = chat.converse(user('?'), { signal: never, onDelta: () => undefined });
  await expect(failed).rejects.toMatchObject({ code });
  await expect(failed).rejects.not.toThrow(key);
});

test('a server that never answers, falls silent or breaks off is unavailable, and is left', async () => {
  const silent: ModelRule['answer'][] = [
    { hangs: 'before' },
    { hangs: 'within', text: 'It does.' },
  ];
  for (const answer of silent)
    for (const more of [{}, { onDelta: () => undefined }]) {
      const chat = await chatOf([answer], { requestMs: 500, silenceMs: 100, retries: 0 });
      const failed = chat.converse(user('?'), { signal: never, ...more });
      await expect(failed).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', retryable: true });
      await eventually(async () => expect((await server.requests())[0]?.isGivenUp).toBe(true));
    }
  for (const more of [{}, { onDelta: () => undefined }]) {
    const chat = await chatOf([{ hangs: 'cut', text: 'It does.' }]);
    const failed = chat.converse(user('?'), { signal: never, ...more });
    await expect(failed).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', retryable: true });
  }
});

test('an answer that goes on for ever ends', async () => {
  const chat = await chatOf([{ hangs: 'within', text: 'It does.' }], { answerMs: 100 });
  const failed = chat.converse(user('?'), { signal: never, onDelta: () => undefined });
  await expect(failed).rejects.toThrow('had not ended after 100 ms');
});

test('who gives up within a stream is left at once, and so is the server', async () => {
  const chat = await chatOf([{ hangs: 'within', text: 'It does.' }]);
  const leave = new AbortController();
  const budget = new Budget(100_000);
  const given = chat.converse(user('?'), {
    ...{ signal: leave.signal, budget },
    onDelta: () => leave.abort(),
  });
  await expect(given).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(budget.spent).toBeGreaterThan(0);
  await eventually(async () => expect((await server.requests())[0]?.isGivenUp).toBe(true));
});

test('who gives up before the next attempt does not wait for it', async () => {
  // Longer than this test may take.
  const chat = await chatOf([{ status: 429, headers: { 'retry-after': '29' } }]);
  const leave = new AbortController();
  const given = chat.converse(user('?'), { signal: leave.signal });
  const rejected = expect(given).rejects.toMatchObject({ code: 'CANCELLED' });
  await eventually(async () => expect(await server.requests()).toHaveLength(1));
  leave.abort();
  await rejected;
}, 15_000);

test('who has given up before asks nothing', async () => {
  const chat = await chatOf([{ text: 'It does.' }]);
  const given = chat.converse(user('?'), { signal: AbortSignal.abort() });
  await expect(given).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(await server.requests()).toEqual([]);
});

test('what the caller throws at a part is thrown as it is', async () => {
  const chat = await chatOf([{ text: 'It does.' }]);
  const fault = new TypeError('mine');
  const failed = chat.converse(user('?'), {
    signal: never,
    onDelta: () => {
      throw fault;
    },
  });
  await expect(failed).rejects.toBe(fault);
});

test('a request that is too large is not sent', async () => {
  const chat = await chatOf([{ text: 'It does.' }]);
  const many = Array<Message>(chatLimits.messages + 1).fill({ role: 'user', text: '?' });
  const manyTools = Array<Tool>(chatLimits.tools + 1).fill(lookUp);
  const large = user('x'.repeat(chatLimits.requestBytes));
  for (const asked of [
    chat.converse(many, { signal: never }),
    chat.converse(user('?'), { signal: never, tools: manyTools }),
    chat.converse(large, { signal: never }),
  ])
    await expect(asked).rejects.toMatchObject({ code: 'MODEL_REQUEST_TOO_LARGE' });
  expect(await server.requests()).toEqual([]);
});

test('a budget is charged as the endpoint counts, and ends what would begin after it', async () => {
  const chat = await chatOf([{ text: 'It does.', usage: { prompt: 70, completion: 40 } }]);
  const budget = new Budget(200);
  for (const more of [{}, { onDelta: () => undefined }])
    await chat.converse(user('?'), { signal: never, budget, ...more });
  expect([budget.spent, budget.left]).toEqual([220, 0]);
  const refused = chat.converse(user('?'), { signal: never, budget });
  await expect(refused).rejects.toMatchObject({
    code: 'MODEL_BUDGET_SPENT',
    data: { spent: 220, max: 200 },
  });
  expect(await server.requests()).toHaveLength(2);
});

test('what no endpoint counts is estimated, and said to be', async () => {
  const chat = await chatOf([{ text: 'x'.repeat(400), usage: null }]);
  for (const more of [{}, { onDelta: () => undefined }]) {
    const budget = new Budget(100_000);
    const wanted = { signal: never, budget, ...more };
    const { usage } = await chat.converse(user('y'.repeat(4_000)), wanted);
    expect(usage).toMatchObject({ completion: 100, isEstimated: true });
    expect(usage.prompt).toBeGreaterThan(1_000);
    expect(budget.spent).toBe(usage.total);
  }
});

test('what failed is charged, too, unless nobody worked on it', async () => {
  const asked = user('y'.repeat(4_000));
  const spentBy = async (answer: ModelRule['answer']): Promise<number> => {
    const chat = await chatOf([answer], { requestMs: 300, silenceMs: 100, retries: 1 });
    const budget = new Budget(100_000);
    const wanted = { signal: never, budget, onDelta: () => undefined };
    await expect(chat.converse(asked, wanted)).rejects.toThrow();
    return budget.spent;
  };
  expect(await spentBy({ status: 500, headers: quick })).toBe(0);
  const text = 'x'.repeat(4_000);
  const within = await spentBy({ hangs: 'within', text, parts: 4 });
  expect(within).toBeGreaterThan(1_000 + 250);
  expect(within).toBeLessThan(2_000);
  // Both attempts were given up while they were worked on.
  expect(await spentBy({ hangs: 'before' })).toBeGreaterThan(2_000);
  expect(await spentBy({ text: 'It', finish: 'length' })).toBe(42);
});

test('one signal serves many requests', async () => {
  const chat = await chatOf([{ text: 'It does.' }]);
  const { signal } = new AbortController();
  const warned: Error[] = [];
  const warn = (warning: Error): unknown => warned.push(warning);
  process.on('warning', warn);
  for (let count = 0; count < 12; count += 1) await chat.converse(user('?'), { signal });
  process.off('warning', warn);
  expect(warned).toEqual([]);
});

test('the runner fences its sources, and keeps only what cites them', async () => {
  const chat = await chatOf([{ text: 'It opens [1]. It sings. It flies [7].' }]);
  const run = modelRunner(chat);
  const source = {
    ...{ overlay: 'O1', content: 'int open(void);', relevance: '', file_path: 'a.c' },
    ...{ line_start: 1, line_end: 1, symbol: 'open', blob: '', agent: 'a', similarity: 0.9 },
  };
  const outcome = await run({
    ...{ task: readTask({ task: 'What does it do?' }, 'one'), attempt: 1, pgc: null },
    gathered: { ...nothingGathered, citations: [source] },
    ...{ parent: '', conflicts: [], earlier: '', signal: never, progress: () => undefined },
  });
  expect(outcome).toMatchObject({ kind: 'finished', result: 'It opens [1].', tokens: 42 });
  expect(outcome.cited).toEqual([source]);
  expect(outcome.gathered?.warnings).toEqual(['2 sentences without a valid source dropped.']);
  const [asked] = await server.requests();
  expect(asked!.body.messages[1].content).toContain('[1] O1 a.c:1-1\nint open(void);');
});
