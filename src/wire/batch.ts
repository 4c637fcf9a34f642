import { batchBytesMax, batchFramesMax, viewOf, writeFrame, type Frame } from './frame.js';

/** Room for a full part and another. */
const roomBytes = 2 * batchBytesMax;
/** A smaller rest is not worth keeping. */
const restBytesMin = 8 * 1024;
/** Rests that are kept, and batches that begin with a whole room. */
const roomsMax = 16;
/** With which the others begin: little is said to each of many peers at once. */
const firstBytes = 4 * 1024;
/** A smaller part, a refusal say, is copied: a stranger that does not read would keep the whole room around it. */
const slicedBytesMin = 512;

interface Room {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/** What is left of rooms. Shared by all batches of the process: a peer to which little is said takes little. */
const rests: Room[] = [];
/** Batches that hold a room. */
let holders = 0;

/**
 * Frames for one peer, each written once, where it will be sent from. ZeroMQ sends by reference and does not say when
 * it is done, so no byte of a part is written again: a part is a slice, and the next one begins behind it.
 */
export class Batch {
  #room: Room | undefined;
  #end = 0;
  #frames = 0;

  get isEmpty(): boolean {
    return this.#frames === 0;
  }

  /** Whether a frame that needs so much room may go into the same part. */
  takes(room: number): boolean {
    return (
      this.#frames === 0 || (this.#frames < batchFramesMax && this.#end + room <= batchBytesMax)
    );
  }

  /** `Buffer`: a frame that is encoded already. Returns the bytes that it took. Throws TOO_LARGE. */
  add(frame: Frame | Buffer, room: number): number {
    const { bytes, view } = this.#withRoom(room);
    const before = this.#end;
    try {
      if (Buffer.isBuffer(frame)) {
        bytes.set(frame, before);
        this.#end += frame.length;
      } else this.#end = writeFrame(frame, bytes, view, before);
    } catch (error) {
      // Nothing may follow for long, and the room of what was too large is of megabytes.
      if (this.isEmpty) this.clear();
      throw error;
    }
    this.#frames += 1;
    return this.#end - before;
  }

  /** All frames since the last call, as one part. */
  take(): Buffer {
    const room = this.#room as Room;
    const end = this.#end;
    this.clear();
    if (end >= slicedBytesMin || room.bytes.length <= firstBytes) {
      if (room.bytes.length - end >= restBytesMin) keep(roomOf(room.bytes.subarray(end)));
      return room.bytes.subarray(0, end);
    }
    keep(room);
    return Buffer.from(room.bytes.subarray(0, end));
  }

  clear(): void {
    if (this.#room !== undefined) holders -= 1;
    this.#room = undefined;
    this.#end = 0;
    this.#frames = 0;
  }

  #withRoom(bytes: number): Room {
    const before = this.#room;
    const all = this.#end + bytes;
    if (before !== undefined && all <= before.bytes.length) return before;
    let room = rests.pop();
    if (room === undefined || room.bytes.length < all) {
      const least = before === undefined && holders >= roomsMax ? firstBytes : roomBytes;
      room = roomOf(Buffer.allocUnsafeSlow(all <= least ? least : Math.max(roomBytes, all)));
    }
    if (before === undefined) holders += 1;
    else room.bytes.set(before.bytes.subarray(0, this.#end));
    return (this.#room = room);
  }
}

function roomOf(bytes: Buffer): Room {
  return { bytes, view: viewOf(bytes) };
}

function keep(room: Room): void {
  if (rests.length < roomsMax) rests.push(room);
}
