import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

const usageDefault = { prompt: 30, completion: 12 };
const partsDefault = 3;

export function answerJson(response, value, status = 200, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

export async function answerChat(request, response, body, answer) {
  if (answer.hangs === 'before') return;
  if (answer.delayMs > 0) await wait(answer.delayMs);
  if (answer.status !== undefined) {
    const error = { message: `no: ${request.headers.authorization ?? ''}` };
    return answerJson(response, { error }, answer.status, answer.headers);
  }
  if (answer.raw !== undefined) {
    const type = body.stream ? 'text/event-stream' : 'application/json';
    response.writeHead(200, { 'content-type': type, ...answer.headers });
    return response.end(answer.raw);
  }
  if (body.stream) return stream(response, body, answer);
  const json = JSON.stringify(wholeOf(body, answer));
  if (answer.hangs === undefined) {
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(json);
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(json.slice(0, json.length >> 1));
  if (answer.hangs === 'cut') response.destroy();
}

function wholeOf({ model }, answer) {
  const { text, refusal } = answer;
  const calls = callsOf(answer);
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(refusal !== undefined && { refusal }),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => ({ ...call, index: undefined })) }),
  };
  const choice = { index: 0, message, finish_reason: finishOf(answer) };
  return { object: 'chat.completion', model, choices: [choice], ...usageOf(answer) };
}

async function stream(response, { model, stream_options }, answer) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = async (value) => {
    const data = typeof value === 'string' ? value : JSON.stringify({ model, ...value });
    if (!response.write(`data: ${data}\n\n`))
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
    return !response.destroyed;
  };
  const deltas = deltasOf(answer);
  // Half of it at least, so that something was said.
  const sent = answer.hangs === undefined ? deltas.length : Math.ceil(deltas.length / 2);
  for (const delta of deltas.slice(0, sent))
    if (!(await send({ choices: [{ index: 0, delta, finish_reason: null }] }))) return;
  if (answer.hangs === 'within') return;
  if (answer.hangs === 'cut') return response.end();
  await send({ choices: [{ index: 0, delta: {}, finish_reason: finishOf(answer) }] });
  if (stream_options?.include_usage) await send({ choices: [], ...usageOf(answer) });
  await send('[DONE]');
  response.end();
}

function deltasOf(answer) {
  const { text, refusal, parts = partsDefault } = answer;
  const calls = callsOf(answer).flatMap(
    ({ index, id, type, function: { name, arguments: its } }) => {
      const at = answer.sharedIndex ? 0 : index;
      const first = { index: at, id, type, function: { name, arguments: '' } };
      const rest = cut(its, parts).map((each) => ({ index: at, function: { arguments: each } }));
      return [first, ...rest].map((each) => ({ tool_calls: [each] }));
    },
  );
  return [
    { role: 'assistant', content: '' },
    ...cut(text, parts).map((content) => ({ content })),
    ...cut(refusal ?? '', parts).map((each) => ({ refusal: each })),
    ...calls,
  ];
}

function cut(text, parts) {
  const chars = Math.max(1, Math.ceil(text.length / parts));
  return Array.from({ length: Math.ceil(text.length / chars) }, (_, at) =>
    text.slice(at * chars, (at + 1) * chars),
  );
}

function callsOf({ calls = [] }) {
  return calls.map(({ id, name, arguments: its }, index) => ({
    index,
    id: id ?? `call_${index}`,
    type: 'function',
    function: { name, arguments: typeof its === 'string' ? its : JSON.stringify(its ?? {}) },
  }));
}

function finishOf({ finish, calls = [] }) {
  return finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
}

function usageOf({ usage = usageDefault }) {
  if (usage === null) return {};
  const { prompt, completion } = usage;
  return {
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
    },
  };
}
