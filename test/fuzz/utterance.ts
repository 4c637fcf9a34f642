import { Command, type EnvelopeFields } from '../../src/wire/frame.js';
import * as messages from '../../src/wire/messages.js';
import type { SeededRandom } from '../simulation/random.js';
import { codecs, garbage } from './wire-forms.js';

/** What a listener could have learnt on the way. */
export interface Known {
  ids: string[];
  seqs: number[];
}

const texts = [
  '',
  'x',
  'f1',
  'honest-a',
  'honest-b',
  'work.pool',
  '*',
  '>',
  'a.b.c',
  '..',
  'ä€\u0000',
  'A',
];
const addresses = [
  ...['agent:honest-b', 'agent:honest-a', 'agent:boss', 'agent:f1', 'agent:f2', 'agent:g7'],
  ...['service:work.pool', 'service:lattice.x', 'reply:f1', 'reply:honest-a', 'topic:agent.f1.x'],
  ...['topic:presence.f1.left', 'topic:sys.x', 'agent:', 'service:', ':', 'nobody', 'agent:A B'],
  ...['agent:__proto__', 'service:constructor', 'reply:reply', ''],
];

function anyText(random: SeededRandom): string {
  if (random.chance(0.02)) return 'y'.repeat(random.pick([200, 201, 5_000, 20_000]));
  return random.pick(texts);
}

function anyId(random: SeededRandom, known: Known): string {
  const shape = random.int(0, 9);
  if (shape < 5) return `id-${random.int(1, 1_000_000)}`;
  if (shape < 8 && known.ids.length > 0) return random.pick(known.ids);
  return anyText(random);
}

function anySeq(random: SeededRandom, known: Known): number {
  if (known.seqs.length > 0 && random.chance(0.6)) return random.pick(known.seqs);
  return random.pick([0, 1, 2, random.int(1, 20_000), 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER]);
}

function anyUint(random: SeededRandom): number {
  return random.pick([0, 0, 1, 50, 1_000, 65_536, 2 ** 31, 2 ** 32 - 1]);
}

const types = [
  ...['agents', 'status', 'topics', 'mailboxes', 'inbox', 'dead', 'message', 'reply', 'echo'],
  ...['dead.requeue', 'dead.purge', 'inbox.purge', 'backup', 'compact', 'constructor', ''],
];

/** An envelope that is likely to be meant for the command, or not. */
export function anyEnvelope(random: SeededRandom, command: Command, known: Known): EnvelopeFields {
  const envelope: EnvelopeFields = {};
  if (random.chance(0.9)) envelope.id = anyId(random, known);
  if (random.chance(0.1)) envelope.from = random.pick(['honest-a', 'honest-b', 'boss', 'f1', '\0']);
  const isMessage = command === Command.SEND || command === Command.PUBLISH;
  if (isMessage || random.chance(0.2)) envelope.to = random.pick(addresses);
  if (random.chance(0.3)) envelope.reply_to = random.pick([...addresses, 'reply']);
  if (random.chance(0.2)) envelope.correlation = anyId(random, known);
  if (random.chance(0.1)) envelope.more = true;
  if (random.chance(0.4)) envelope.deadline_ms = anyUint(random);
  if (random.chance(0.1)) envelope.attempt = anyUint(random);
  if (random.chance(0.05)) envelope.trace = anyText(random);
  if (random.chance(0.9)) envelope.type = random.pick(types);
  if (random.chance(0.2)) envelope.seq = anySeq(random, known);
  if (random.chance(0.6)) envelope.durable = true;
  if (random.chance(0.3)) envelope.order_key = random.pick(['', 'k1', 'k2', anyText(random)]);
  if (random.chance(0.2)) envelope.delay_ms = anyUint(random);
  if (random.chance(0.2)) envelope.ttl_ms = anyUint(random);
  if (random.chance(0.1)) envelope.stored_ms = anySeq(random, known);
  if (random.chance(0.1)) envelope.after = anyId(random, known);
  return envelope;
}

/** The codec of the body that each command of a client carries. */
const bodies = new Map<Command, string[]>([
  [Command.HELLO, ['helloCodec']],
  [Command.PROOF, ['proofCodec']],
  [Command.REGISTER, ['agentRecordCodec']],
  [Command.OFFER, ['offerCodec']],
  [Command.WITHDRAW, ['offerCodec']],
  [
    Command.QUERY,
    ['agentsQueryCodec', 'topicsQueryCodec', 'messagesQueryCodec', 'messageQueryCodec'],
  ],
  [Command.ACK, ['settleCodec']],
  [Command.NACK, ['settleCodec']],
  [Command.TERM, ['settleCodec']],
  [Command.WORKING, ['settleCodec']],
  [Command.CREDIT, ['creditCodec']],
  [Command.TAKE, ['takeCodec']],
  [Command.ADMIN, ['messagesAdminCodec', 'backupRequestCodec']],
  [Command.GOODBYE, ['goodbyeCodec']],
]);

export function anyBody(random: SeededRandom, command: Command, known: Known): Buffer {
  const shape = random.int(0, 19);
  if (shape === 0) return Buffer.alloc(0);
  if (shape === 1) return garbage(random);
  if (shape === 2) return Buffer.alloc(random.pick([1_000, 100_000]), 7);
  const names = bodies.get(command);
  if (names === undefined) return Buffer.alloc(random.int(0, 300), 1);
  const name = shape === 3 ? random.pick([...codecs.keys()]) : random.pick(names);
  const bytes = plausible(name, random, known);
  if (shape === 4 && bytes.length > 0)
    bytes[random.int(0, bytes.length - 1)]! ^= 1 << random.int(0, 7);
  return bytes;
}

/** A body of the right form with values by chance, lists that are too long among them. */
function plausible(name: string, random: SeededRandom, known: Known): Buffer {
  const list = <T>(draw: () => T): T[] => {
    const length = random.chance(0.02) ? random.pick([5_000, 20_000]) : random.int(0, 5);
    return Array.from({ length }, draw);
  };
  switch (name) {
    case 'settleCodec':
      return messages.settleCodec.encode({
        seqs: list(() => anySeq(random, known)),
        delay_ms: anyUint(random),
        reason: anyText(random),
        untouched: random.chance(0.3),
      });
    case 'creditCodec':
      return messages.creditCodec.encode({
        mailbox: random.chance(0.4) ? '' : random.pick(addresses),
        messages: anyUint(random),
        bytes: anyUint(random),
      });
    case 'takeCodec':
      return messages.takeCodec.encode({
        mailbox: random.chance(0.4) ? '' : random.pick(addresses),
        from: random.chance(0.6) ? '' : anyText(random),
        correlation: random.chance(0.6) ? '' : anyId(random, known),
        lifo: random.chance(0.3),
      });
    case 'offerCodec':
      return messages.offerCodec.encode({
        services: list(() => random.pick(['work.pool', 'a', 'b.c', 'lattice.x', anyText(random)])),
      });
    case 'agentRecordCodec':
      return messages.agentRecordCodec.encode({
        ...{ id: anyText(random), role: anyText(random), model: anyText(random) },
        alias: random.pick(['', 'al', 'honest-b', 'f1', '*']),
        project: anyText(random),
        scope: list(() => anyText(random)),
        overlays: { [anyText(random)]: { state: 'ready', version: '1', items: 2 } },
        capabilities: list(() => anyText(random)),
        protocol_versions: [],
      });
    case 'agentsQueryCodec':
      return messages.agentsQueryCodec.encode({
        ...{ role: random.pick(['', 'fuzz']), project: '', after: anyText(random) },
        limit: anyUint(random),
      });
    case 'topicsQueryCodec':
      return messages.topicsQueryCodec.encode({
        pattern: random.pick(['>', '*', 'presence.>', 'agent.*.x', anyText(random)]),
        seen: list(() => ({ stream: anyText(random), seq: anySeq(random, known) })),
        after: anyText(random),
        positions_only: random.chance(0.5),
      });
    case 'messagesQueryCodec':
      return messages.messagesQueryCodec.encode({
        mailbox: random.pick(['', '*', ...addresses]),
        after: anySeq(random, known),
        limit: anyUint(random),
      });
    case 'messageQueryCodec':
      return messages.messageQueryCodec.encode({
        seq: anySeq(random, known),
        from: anyText(random),
        id: anyId(random, known),
      });
    case 'messagesAdminCodec':
      return messages.messagesAdminCodec.encode({
        mailbox: random.pick(['', '*', ...addresses]),
        seqs: list(() => anySeq(random, known)),
      });
    case 'backupRequestCodec':
      return messages.backupRequestCodec.encode({ folder: random.pick(['', '/', 'x', '\0']) });
    default:
      return garbage(random);
  }
}
