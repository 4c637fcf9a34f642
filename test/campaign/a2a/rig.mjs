// What a test of A2A talks to: a broker, a manager, `sigma a2a`, and a worker that does what the id of a message says.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { delegationMessages } from '../../../dist/src/delegation/task/messages.js';
import { connectTo, until } from '../agent.mjs';
import { agentAt, brokerAt, Child } from '../processes.mjs';

const sigma = path.resolve(import.meta.dirname, '../../../services/cli/sigma.mjs');
const startMsMax = 120_000;
/** A client has the time to join a stream, or to cancel its task. */
const streamMs = 1_000;
const longMs = 6_000;

/** Resolves when all of them serve; `stop` ends them. */
export async function rigAt(home) {
  const children = [
    brokerAt(home),
    agentAt(home, 'manager', ['manager']),
    new Child('a2a', () =>
      spawn(process.execPath, [sigma, 'a2a', '--port', '0'], {
        env: { ...process.env, SIGMA_HOME: home, SIGMA_BUS: '' },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    ),
  ];
  const [, manager, server] = children;
  children[0].start();
  const worker = connectTo(home, 'hand', { role: 'executor' });
  await worker.ready({ withinMs: startMsMax });
  await work(worker);
  manager.start();
  await until(() => manager.output.includes('"serving'), startMsMax);
  server.start();
  await until(() => /^token in /m.test(server.output), startMsMax);
  const origin = /^ready (\S+)$/m.exec(server.output)[1];
  const token = readFileSync(/^token in (.+)$/m.exec(server.output)[1], 'utf8').trim();
  const stop = async () => {
    await worker.close();
    for (const child of children.toReversed()) await child.stop();
  };
  return { origin, token, stop };
}

async function work(client) {
  await client.register({
    ...{ alias: 'hand', model: '', project: '', scope: [], overlays: {} },
    capabilities: ['delegation:2.0', 'runner:answer', 'slots:16'],
    protocol_versions: ['2.0'],
  });
  const { assign, claim, response } = delegationMessages;
  await client.receive(async ({ type, body }) => {
    if (type !== assign.type) return;
    const { task, attempt, manager } = assign.codec.decode(body);
    const mine = { task_id: task.id, attempt };
    await client.request(`agent:${manager}`, claim.type, claim.codec.encode(mine));
    const whole = {
      ...{ status: 'completed', result: 'done', grounding_evidence: null, reason: '' },
      ...{ errors: [], protocol_version: '2.0', clarification_request: '', partial: false },
      ...{ files_modified: [], usage: null, classification: null, steps: [] },
    };
    // Not awaited: a later task must not wait for this one.
    void answerTo(task).then((its) =>
      client
        .post(
          `agent:${manager}`,
          response.type,
          response.codec.encode({ ...whole, ...its, ...mine }),
        )
        .catch(() => undefined),
    );
  });
}

/** By the id that stands before what was said last. */
async function answerTo({ task, clarifications }) {
  const said = clarifications.at(-1)?.answer ?? task;
  const has = (...prefixes) => prefixes.some((each) => said.startsWith(`[${each}`));
  if (has('tck-input-required'))
    return { status: 'needs_clarification', clarification_request: 'Which one?' };
  if (has('tck-reject')) return { status: 'failed', reason: 'rejected' };
  if (has('tck-stream')) await wait(streamMs);
  if (has('test-resubscribe')) await wait(longMs);
  const words = has('tck-artifact-text') ? 'Generated text content' : 'Hello from TCK';
  return { result: words };
}

/**
 * The same server for a client that knows no token: shows the token for it, and puts the id of each message before its words,
 * where the worker reads it and the client does not. Resolves with its address, and what ends it.
 */
export async function openProxy({ origin, token }) {
  const proxy = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { host: _h, 'content-length': _l, connection: _c, ...headers } = request.headers;
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    try {
      const answer = await fetch(new URL(request.url, origin), {
        method: request.method,
        headers: { ...headers, authorization: `Bearer ${token}` },
        ...(request.method === 'POST' && { body: named(Buffer.concat(chunks).toString()) }),
        signal: gone.signal,
      });
      const {
        'content-encoding': _e,
        'content-length': _n,
        ...its
      } = Object.fromEntries(answer.headers);
      response.writeHead(answer.status, its);
      // A card, an answer, or one event after another: none is cut within a word.
      for await (const chunk of answer.body ?? []) response.write(unnamed(Buffer.from(chunk)));
      response.end();
    } catch {
      response.destroy();
    }
  });
  const unnamed = (chunk) =>
    chunk
      .toString()
      .replaceAll(origin, address())
      .replace(/\[(?:tck|test)-[\w-]+\] /g, '');
  const address = () => `http://127.0.0.1:${proxy.address().port}`;
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const close = () => {
    proxy.closeAllConnections();
    proxy.close();
  };
  return { address: address(), close };
}

function named(body) {
  try {
    const call = JSON.parse(body);
    const { messageId, parts } = call.params.message;
    const first = parts.find(({ text }) => typeof text === 'string');
    first.text = `[${messageId}] ${first.text}`;
    return JSON.stringify(call);
  } catch {
    return body;
  }
}
