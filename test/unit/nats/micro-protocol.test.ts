import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foreignAgentIn } from '../../../src/nats/micro/foreign-info.js';
import { foreignLimits } from '../../../src/nats/micro/limits.js';
import { bytesIn, chunkIn, promptIn, responseChunks } from '../../../src/nats/micro/protocol.js';
import { isAgentSubject, isReplySubject } from '../../../src/nats/micro/subjects.js';
import { isName } from '../../../src/base/ids.js';
import { codeOf } from '../../support/codes.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('a prompt is plain text or JSON; what is neither is refused', () => {
  expect(promptIn(bytes('hello'))).toBe('hello');
  expect(promptIn(bytes(' \n{"prompt":"hello","more":1,"attachments":[]}'))).toBe('hello');
  expect(promptIn(bytes('[1]'))).toBe('[1]');
  const refused = ['', ' \n', '{', '{"prompt":1}', '{"prompt":""}', '{}'];
  const attached = '{"prompt":"x","attachments":[{"filename":"a","content":""}]}';
  for (const body of [...refused, attached].map(bytes))
    expect(codeOf(() => promptIn(body)).code).toBe('MALFORMED_PAYLOAD');
  expect(codeOf(() => promptIn(Uint8Array.of(0x66, 0xff))).code).toBe('MALFORMED_PAYLOAD');
});

test('a text in chunks is the same text again, and no character is halved', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 8 }), (text, max) => {
      const chunks = [...responseChunks(text, max)];
      const parts = chunks.map((each) => chunkIn(bytes(each)).text ?? '');
      expect(parts.join('')).toBe(text);
      expect(parts.every((each) => each.length <= Math.max(2, max))).toBe(true);
    }),
  );
});

test('a chunk is read in each of its forms', () => {
  const read = (value: unknown): object => chunkIn(bytes(JSON.stringify(value)));
  expect(read({ type: 'response', data: 'a' })).toEqual({ text: 'a' });
  expect(read({ type: 'response', data: { text: 'a', more: 1 } })).toEqual({ text: 'a' });
  expect(read({ type: 'query', data: { id: '1', reply_subject: 'x', prompt: 'b' } })).toEqual({
    question: 'b',
  });
  expect(read({ type: 'status', data: 'ack' })).toEqual({});
  expect(read({ type: 'thought', data: { a: 1 } })).toEqual({});
  for (const value of [[], 1, 'x', {}, { type: 'response' }, { type: 'response', data: 1 }])
    expect(codeOf(() => read(value)).code).toBe('MALFORMED_PAYLOAD');
});

test('sizes', () => {
  expect(['7B', '512KB', '1MB', '2gb', ' 1 MB '].map(bytesIn)).toEqual([
    ...[7, 512 * 1024, 1024 ** 2, 2 * 1024 ** 3, 1024 ** 2],
  ]);
  expect(['', '1', '-1B', '1TB', '1.5MB', 'B'].map(bytesIn)).toEqual(
    Array.from({ length: 6 }, () => undefined),
  );
});

test('for others nothing is published but to inboxes, and to agents; never with wildcards', () => {
  const asked = (subject: string): boolean => isAgentSubject('prompt', subject);
  expect(isReplySubject('_INBOX.a.b')).toBe(true);
  expect(asked('agents.prompt.pi.me.x')).toBe(true);
  const ours = ['$JS.API.STREAM.DELETE.x', '$SRV.PING', 'sigma.main.log.bus', 'sigma.x', 'a'];
  const tails = ['', 'a..b', '.a', 'a.', 'a.*', 'a.>', 'a b', 'a\r\nPUB b'];
  const broken = ['_INBOX.', 'agents.prompt.'].flatMap((its) => tails.map((tail) => its + tail));
  expect([...ours, ...broken, 'agents.prompt.a.b.c'].filter(isReplySubject)).toEqual([]);
  expect([...ours, ...broken, 'agents.hb.a.b.c', '_INBOX.a.b'].filter(asked)).toEqual([]);
});

const subject = 'agents.prompt.pi.mario.x-1';
const metadata = { agent: 'pi', owner: 'mario', session: 'x-1', protocol_version: '0.3' };
const info = {
  ...{ name: 'agents', id: 'A1', version: '1.0.0', description: 'one\u2028two\n\u001b[2Jthree' },
  metadata,
  endpoints: [
    { name: 'status', subject: 'agents.status.pi.mario.x-1' },
    { name: 'prompt', subject, metadata: { max_payload: '1MB', attachments_ok: true } },
  ],
};

const readInfo = (value: object): ReturnType<typeof foreignAgentIn> =>
  foreignAgentIn(bytes(JSON.stringify(value)));

test('an agent is read as what it says of itself, in bounds', () => {
  expect(readInfo(info)).toEqual({
    ...{ instance: 'A1', status: 'agents.status.pi.mario.x-1' },
    agent: {
      ...{ name: 'foreign-pi_mario_x-1', agent: 'pi', owner: 'mario', session: 'x-1', subject },
      ...{ description: 'one two [2Jthree', metadata, bytesMax: 1024 ** 2 },
    },
  });
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, 'v']));
  const long = 'w'.repeat(10_000);
  const { agent } = readInfo({
    ...{ ...info, description: long },
    metadata: { ...metadata, ...many, session: long },
  }) ?? { agent: undefined };
  expect(agent?.session).toHaveLength(foreignLimits.wordCharsMax);
  expect(agent?.description).toHaveLength(foreignLimits.descriptionCharsMax);
  expect(Object.keys(agent?.metadata ?? {})).toHaveLength(foreignLimits.metadataMax);
  expect(
    readInfo({ ...info, description: 'w'.repeat(foreignLimits.infoBytesMax) }),
  ).toBeUndefined();
});

test('what is no agent that we can ask is none', () => {
  const prompt = (its: object): object => ({
    ...info,
    endpoints: [{ name: 'prompt', subject, ...its }],
  });
  const none = [
    ...[{ ...info, name: 'other' }, { ...info, id: 'a.b' }, { ...info, endpoints: [] }, {}],
    ...[{ ...info, metadata: { ...metadata, protocol_version: '0.2' } }],
    ...[
      { ...info, metadata: { ...metadata, owner: '' } },
      { ...info, metadata: [] },
    ],
    ...['$JS.API.INFO', 'sigma.main.x', 'agents.prompt.>', 'other.x'].map((its) =>
      prompt({ subject: its }),
    ),
    // It wants a signature, which we do not give.
    prompt({ metadata: { min_sender_trust: 'signed' } }),
  ];
  expect(none.map(readInfo)).toEqual(none.map(() => undefined));
  expect(readInfo(prompt({ metadata: { min_sender_trust: 'any' } }))).toBeDefined();
});

test('each subject has one name on the bus, and no two have the same', () => {
  const named = (its: string): string =>
    readInfo({ ...info, endpoints: [{ name: 'prompt', subject: its }] })?.agent.name ?? '';
  const token = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/);
  const subjects = fc.array(token, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(subjects, subjects, (one, other) => {
      const [first, second] = [one, other].map((its) => `agents.prompt.${its.join('.')}`);
      if (first === undefined || second === undefined || first === second) return;
      const names = [named(first), named(second)];
      expect(names[0]).not.toBe(names[1]);
      for (const name of names) expect(isName(name) && name.startsWith('foreign-')).toBe(true);
    }),
  );
  expect(named('agents.prompt.a-b.c.d')).not.toBe(named('agents.prompt.a.b-c.d'));
  expect(named('agents.prompt.PI.mario.x')).not.toBe(named('agents.prompt.pi.mario.x'));
});
