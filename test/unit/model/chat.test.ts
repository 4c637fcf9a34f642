import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { modelRunner } from '../../../services/executor/runners/model.js';
import { nothingGathered } from '../../../src/delegation/gathered.js';
import { readTask } from '../../../src/delegation/schema.js';
import { Chat } from '../../../src/model/chat.js';

interface Asked {
  url: string;
  headers: IncomingHttpHeaders;
  body: { model: string; messages: { role: string; content: string }[] };
}

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A chat endpoint on loopback that gives these answers, one after the other; a number is a status, null never answers. */
async function endpoint(
  answers: (string | number | null)[],
): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const body = JSON.parse(text) as Asked['body'];
      asked.push({ url: request.url ?? '', headers: request.headers, body });
      const answer = answers.shift();
      if (answer === null) return;
      response.setHeader('content-type', 'application/json');
      if (typeof answer === 'number')
        return response
          .writeHead(answer, { 'retry-after-ms': '1' })
          .end(
            JSON.stringify({ error: { message: `no: ${request.headers.authorization ?? ''}` } }),
          );
      const message = { role: 'assistant', content: answer };
      const usage = { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 };
      response.end(JSON.stringify({ choices: [{ index: 0, message }], usage }));
    });
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

const env = { SIGMA_MODEL_KEY: 'a-secret-key' };
const settings = (url: string) => ({ url, model: 'small', keyEnv: 'SIGMA_MODEL_KEY' });
const never = new AbortController().signal;

test('the key goes along, a passing failure is tried again, tokens are counted', async () => {
  const { url, asked } = await endpoint([503, 'It does.']);
  const chat = new Chat(settings(url), { env });
  expect(await chat.ask('rules', 'question', never)).toEqual({ text: 'It does.', tokens: 42 });
  expect(asked).toHaveLength(2);
  expect(asked[1]).toMatchObject({
    url: '/v1/chat/completions',
    headers: { authorization: 'Bearer a-secret-key' },
    body: { model: 'small', messages: [{ role: 'system' }, { content: 'question' }] },
  });
});

test('a refusal is told without the key, silence ends', async () => {
  const { url } = await endpoint([401, null]);
  const refused = new Chat(settings(url), { env }).ask('', '', never);
  await expect(refused).rejects.toMatchObject({ code: 'MODEL_REFUSED' });
  await expect(refused).rejects.not.toThrow(/a-secret-key/);
  const silent = new Chat(settings(url), { env, requestMs: 50, retries: 0 }).ask('', '', never);
  await expect(silent).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', retryable: true });
});

test('the runner fences its sources, and keeps only what cites them', async () => {
  const { url, asked } = await endpoint(['It opens [1]. It sings. It flies [7].']);
  const run = modelRunner(new Chat(settings(url), { env }));
  const source = {
    ...{ overlay: 'O1', content: 'int open(void);', relevance: '', file_path: 'a.c' },
    ...{ line_start: 1, line_end: 1, symbol: 'open', blob: '', agent: 'a', similarity: 0.9 },
  };
  const outcome = await run({
    ...{ task: readTask({ task: 'What does it do?' }, 'one'), attempt: 1, pgc: null },
    gathered: { ...nothingGathered, citations: [source] },
    ...{ conflicts: [], earlier: '', signal: never, progress: () => undefined },
  });
  expect(outcome).toMatchObject({ kind: 'finished', result: 'It opens [1].', tokens: 42 });
  expect(outcome.gathered).toMatchObject({
    citations: [source],
    warnings: ['2 sentences without a valid source dropped.'],
  });
  expect(asked[0]!.body.messages[1]!.content).toContain('[1] O1 a.c:1-1\nint open(void);');
});
