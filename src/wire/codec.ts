import protobuf from 'protobufjs/minimal.js';
import { BusError } from '../errors/bus-error.js';
import './plain-integers.js';
import { sigma } from './generated/proto.js';

/** The static class that protobufjs generates for a message. */
interface MessageClass {
  encode(message: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): object;
  toObject(message: object, options: object): Record<string, unknown>;
  fromObject(object: Record<string, unknown>): object;
}

/**
 * A decoded message: the fields that protobufjs generates for it, all present. `Narrow`: fields of which more is known
 * than the schema says.
 */
export type Plain<Message, Narrow extends object = object> = Omit<Fields<Message>, keyof Narrow> &
  Narrow;

type Fields<Message> = {
  [Name in keyof Message as Name extends '$unknowns' | 'toJSON' ? never : Name]-?: Field<
    NonNullable<Message[Name]>
  >;
};

type Field<T> = T extends Uint8Array
  ? Uint8Array
  : T extends (infer Item)[]
    ? Field<Item>[]
    : T extends object
      ? Fields<T>
      : T;

export interface Codec<T> {
  encode(value: T): Buffer;
  /** A plain object with every field present. Throws MALFORMED_PAYLOAD. */
  decode(bytes: Uint8Array): T;
}

/** Plain objects in and out, for bodies. `T` states the fields of the message in `proto/`. */
export function codec<T extends object>(type: MessageClass): Codec<T> {
  return {
    encode(value) {
      const bytes = type.encode(type.fromObject(value as Record<string, unknown>)).finish();
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    decode(bytes) {
      try {
        return type.toObject(type.decode(bytes), {
          defaults: true,
          arrays: true,
          objects: true,
          longs: Number,
        }) as T;
      } catch (error) {
        throw new BusError(
          'MALFORMED_PAYLOAD',
          { detail: error instanceof Error ? error.message : 'undecodable' },
          { cause: error },
        );
      }
    },
  };
}

/** Reads a message field by field; its methods throw RangeError where lengths do not fit. */
export type FieldReader = protobuf.Reader;
export function readerOf(bytes: Uint8Array): FieldReader {
  return protobuf.Reader.create(bytes);
}

export type { sigma };

export const bus = sigma.bus;
export const pgc = sigma.pgc;
export const delegation = sigma.delegation;
export const task = sigma.task;
export const attention = sigma.attention;
export const critic = sigma.critic;
export const scip = sigma.scip;
