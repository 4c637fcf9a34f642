// Somebody who speaks the protocol and keeps none of its promises.
import { Dealer } from 'zeromq';
import {
  Command,
  decodeFrames,
  encodeFrame,
  headBytes,
  makeFrame,
  protocolVersion,
} from '../../dist/src/wire/frame.js';
import { crc32 } from '../../dist/src/wire/crc.js';
import {
  challengeCodec,
  decodeFailure,
  helloCodec,
  proofCodec,
} from '../../dist/src/wire/messages.js';
import { proofOf } from '../../dist/src/wire/proof.js';

export { Command };

const answerMsMax = 5_000;

export class RawPeer {
  #dealer;
  #frames = [];
  nonce = Buffer.alloc(0);

  /** `keys`: as in an identity file; absent: without CURVE. */
  constructor(address, keys) {
    this.#dealer = new Dealer({
      ...{ linger: 0, receiveTimeout: answerMsMax, sendTimeout: answerMsMax, immediate: true },
      ...(keys && {
        curvePublicKey: keys.curve_public,
        curveSecretKey: keys.curve_secret,
        curveServerKey: keys.server_public,
      }),
    });
    // Before it connects: what happens earlier is told to nobody.
    const { events } = this.#dealer;
    this.refused = new Promise((resolve) =>
      events.on('handshake:error:protocol', () => resolve('CURVE_REQUIRED')),
    );
    this.cutOff = new Promise((resolve) => events.on('disconnect', () => resolve('cut off')));
    this.#dealer.connect(address);
  }

  sendBytes(bytes) {
    return this.#dealer.send(bytes);
  }

  send(command, envelope, body) {
    return this.sendBytes(encodeFrame(makeFrame(command, envelope, body)));
  }

  hello(agent, role, incarnation = Date.now()) {
    this.incarnation = incarnation;
    return this.send(Command.HELLO, { id: 'hello' }, helloBody(agent, role, incarnation));
  }

  proofOf(secret, agent) {
    return proofOf(Buffer.from(secret, 'hex'), this.nonce, agent, this.incarnation);
  }

  prove(hmac) {
    return this.send(Command.PROOF, { id: 'proof' }, proofCodec.encode({ hmac }));
  }

  /** Greets and proves as the identity file says. Resolves with WELCOME or the code of the refusal. */
  async enter({ agent, role, secret }) {
    await this.hello(agent, role);
    const first = await this.answer();
    if (first !== 'CHALLENGE') return first;
    await this.prove(this.proofOf(secret, agent));
    return this.answer();
  }

  /** Sends one frame and resolves with what comes of it. */
  async ask(command, envelope, body) {
    await this.send(command, { id: 'ask', ...envelope }, body);
    return this.answer();
  }

  /** The next frame's name, or the code of a refusal; `nothing` when none comes. */
  async answer() {
    const frame = await this.next();
    if (frame === undefined) return 'nothing';
    if (frame.command === Command.CHALLENGE) this.nonce = challengeCodec.decode(frame.body).nonce;
    if (frame.command === Command.REJECT) return decodeFailure(frame.body).code;
    return (
      Command[frame.command] + (frame.command === Command.RESET ? ` ${frame.envelope.type}` : '')
    );
  }

  async next() {
    try {
      while (this.#frames.length === 0) {
        const [part] = await this.#dealer.receive();
        for (const decoded of decodeFrames(part)) if (decoded.ok) this.#frames.push(decoded.frame);
      }
    } catch {
      return undefined;
    }
    return this.#frames.shift();
  }

  close() {
    this.#dealer.close();
  }
}

export function helloBody(agent, role, incarnation) {
  return helloCodec.encode({
    ...{ agent, role, incarnation, heartbeat_ms: 1_000, ephemeral: true, held: [], person: '' },
    key: Buffer.alloc(0),
    ...{ protocol_min: protocolVersion, protocol_max: protocolVersion },
  });
}

/** A head whose checksum is right and whose lengths are not. */
export function headClaiming(command, envelopeBytes, bodyBytes) {
  const head = Buffer.alloc(headBytes);
  head.writeUInt16LE(0x4742, 0);
  head.writeUInt8(protocolVersion, 2);
  head.writeUInt8(command, 3);
  head.writeUInt32LE(envelopeBytes, 8);
  head.writeUInt32LE(bodyBytes, 12);
  head.writeUInt32LE(crc32(head.subarray(0, 24)), 24);
  return head;
}
