// An agent of the Synadia Agent Protocol 0.3 and a caller of such agents, written by its document alone; nothing of ours is used.
//   node stranger.mjs URL serve NAME [OPTIONS as JSON]     prints "ready" and its id; then what it is asked
//   node stranger.mjs URL ask NAME TEXT                    finds the agent NAME, asks it, prints each message as JSON
import { connect, createInbox, headers, nkeyAuthenticator } from '@nats-io/transport-node';
import { randomUUID } from 'node:crypto';

const [url, what, name, last = '{}'] = process.argv.slice(2);
// With a server that knows its users: the seed of an nkey, and where this one may get answers.
const { STRANGER_SEED: seed, STRANGER_INBOX: inboxPrefix } = process.env;
const authenticator = seed && nkeyAuthenticator(new TextEncoder().encode(seed));
const nc = await connect({ servers: url, ...(seed && { authenticator, inboxPrefix }) });
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
if (what === 'serve') await serve(JSON.parse(last));
else await ask(last);

async function serve({
  harness = 'stranger',
  owner = 'tests',
  interval = 1,
  prompt = `agents.prompt.${harness}.${owner}.${name}`,
  version = '0.3',
  metadata = {},
  promptMetadata = {},
}) {
  const id = randomUUID().replaceAll('-', '').toUpperCase();
  const status = `agents.status.${harness}.${owner}.${name}`;
  const its = { agent: harness, owner, session: name, protocol_version: version, ...metadata };
  const queue_group = 'agents';
  const said = { name: 'agents', id, version: '1.2.3', metadata: its };
  const endpoints = [
    {
      ...{ name: 'prompt', subject: prompt, queue_group },
      metadata: { max_payload: '1KB', attachments_ok: 'false', ...promptMetadata },
    },
    { name: 'status', subject: status, queue_group, metadata: {} },
  ];
  const replies = {
    PING: { ...said, type: 'io.nats.micro.v1.ping_response' },
    INFO: {
      ...said,
      type: 'io.nats.micro.v1.info_response',
      description: 'A stranger.',
      endpoints,
    },
  };
  const answer = (subject, queue, callback) =>
    nc.subscribe(subject, { ...(queue && { queue }), callback: (_, msg) => callback(msg) });
  for (const [verb, reply] of Object.entries(replies))
    for (const which of ['', '.agents', `.agents.${id}`])
      answer(`$SRV.${verb}${which}`, '', (msg) => msg.respond(JSON.stringify(reply)));
  const beat = () =>
    JSON.stringify({
      ...{ agent: harness, owner, session: name, instance_id: id },
      ...{ ts: new Date().toISOString(), interval_s: interval },
    });
  answer(status, queue_group, (msg) => msg.respond(beat()));
  if (!/[*>]/.test(prompt)) answer(prompt, queue_group, (msg) => prompted(msg));
  const tell = () => nc.publish(`agents.hb.${harness}.${owner}.${name}`, beat());
  setInterval(tell, interval * 1000);
  tell();
  await nc.flush();
  print({ ready: id });
}

function prompted(msg) {
  const { prompt } = JSON.parse(msg.string());
  print({ asked: prompt });
  const send = (type, data) => msg.respond(JSON.stringify({ type, data }));
  send('status', 'ack');
  if (prompt === 'be silent') return;
  if (prompt === 'fail') {
    const reason = headers();
    reason.set('Nats-Service-Error-Code', '429');
    reason.set('Nats-Service-Error', 'too many of you');
    msg.respond('', { headers: reason });
  } else if (prompt === 'ask back') {
    send('query', { id: '1', reply_subject: createInbox(inboxPrefix), prompt: 'May I?' });
    return;
  } else if (prompt === 'flood') {
    for (let at = 0; at < 200; at += 1) send('response', 'x'.repeat(64 * 1024));
  } else if (prompt === 'long') {
    for (let at = 0; at < 10; at += 1) send('response', 'y'.repeat(10_000));
  } else if (prompt === 'mumble') {
    msg.respond('no JSON');
  } else {
    send('thought', { of: 'an unknown type' });
    send('response', 'You said: ');
    send('response', { text: prompt, mood: 'calm' });
    send('status', 'some status');
    send('response', '!');
  }
  msg.respond('');
}

async function ask(text) {
  const found = await nc.requestMany('$SRV.INFO.agents', '', { strategy: 'stall', maxWait: 2000 });
  for await (const msg of found) {
    const info = msg.json();
    const endpoint = info.endpoints.find((each) => each.name === 'prompt');
    if (info.metadata.session !== name || endpoint === undefined) continue;
    const inbox = createInbox(inboxPrefix);
    const replies = nc.subscribe(inbox, { timeout: 10_000 });
    nc.publish(endpoint.subject, text, { reply: inbox });
    for await (const reply of replies) {
      const code = reply.headers?.get('Nats-Service-Error-Code');
      print({ ...(code && { code }), ...(reply.data.length > 0 && { said: reply.json() }) });
      if (reply.data.length === 0 && reply.headers === undefined) break;
    }
    break;
  }
  await nc.close();
}
