import { batchBytesMax, batchFramesMax, viewOf, writeFrame, type Frame } from './frame.js';

/** Room that is taken at a time: two full parts. */
const roomBytes = 2 * batchBytesMax;
/** A smaller rest is not worth keeping. */
const restBytesMin = 8 * 1024;
const restsMax = 16;

/** What is left of rooms. Shared by all batches of the process: a peer to which little is said takes little. */
const rests: Buffer[] = [];

/**
 * Frames for one peer, each written once, where it will be sent from. ZeroMQ sends by reference and does not say when
 * it is done, so no byte is used twice: a part is a slice, and the next one begins behind it.
 */
export class Batch {
  #room: Buffer | undefined;
  #view: DataView | undefined;
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
    const into = this.#withRoom(room);
    const before = this.#end;
    if (Buffer.isBuffer(frame)) {
      into.set(frame, before);
      this.#end += frame.length;
    } else this.#end = writeFrame(frame, into, this.#view as DataView, before);
    this.#frames += 1;
    return this.#end - before;
  }

  /** Takes back the last frame, of so many bytes. */
  undo(bytes: number): void {
    this.#end -= bytes;
    this.#frames -= 1;
  }

  /** All frames since the last call, as one part. */
  take(): Buffer {
    const room = this.#room as Buffer;
    const part = room.subarray(0, this.#end);
    if (room.length - this.#end >= restBytesMin && rests.length < restsMax)
      rests.push(room.subarray(this.#end));
    this.clear();
    return part;
  }

  clear(): void {
    this.#room = undefined;
    this.#end = 0;
    this.#frames = 0;
  }

  #withRoom(bytes: number): Buffer {
    const all = this.#end + bytes;
    if (this.#room !== undefined && all <= this.#room.length) return this.#room;
    let room = rests.pop();
    if (room === undefined || room.length < all)
      room = Buffer.allocUnsafeSlow(Math.max(roomBytes, all));
    if (this.#room !== undefined) room.set(this.#room.subarray(0, this.#end));
    this.#view = viewOf(room);
    return (this.#room = room);
  }
}
