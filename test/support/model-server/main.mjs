// A server of language models on loopback, in a process of its own, as OpenAI's answers. What it says stands in a script:
//   node test/support/model-server/main.mjs [--port 0] [--script FILE.json] [--until-stdin-ends]
// Its first line is {"url": …}. See script.mjs for what a script can say, README.md for an example.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { answerChat, answerJson } from './answer.mjs';
import { Script } from './script.mjs';

const requestsMax = 10_000;

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    script: { type: 'string' },
    'until-stdin-ends': { type: 'boolean', default: false },
  },
});

let script = new Script(
  values.script === undefined ? [] : JSON.parse(readFileSync(values.script, 'utf8')),
);
let requests = [];

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

async function answer(request, response) {
  const { method, url } = request;
  // What tests ask, and say, about it.
  if (method === 'GET' && url === '/requests') return answerJson(response, requests);
  if (method === 'PUT' && url === '/script') {
    script = new Script(await bodyOf(request));
    requests = [];
    return answerJson(response, {});
  }
  const body = await bodyOf(request);
  const record = {
    path: url,
    authorization: request.headers.authorization,
    body,
    isGivenUp: false,
  };
  if (requests.length >= requestsMax) throw new Error(`more than ${requestsMax} requests`);
  requests.push(record);
  response.once('close', () => {
    record.isGivenUp = !response.writableFinished;
  });
  if (url === '/v1/chat/completions')
    return answerChat(request, response, body, script.answerTo(body));
  return answerJson(response, { error: { message: `nothing is at ${url}` } }, 404);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    if (!response.headersSent) answerJson(response, { error: { message: String(error) } }, 400);
    else response.destroy();
  });
});
server.listen(Number(values.port), '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/v1` }));
});
if (values['until-stdin-ends']) process.stdin.resume().once('end', () => process.exit(0));
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0));
