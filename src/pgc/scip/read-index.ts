import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { BusError } from '../../errors/bus-error.js';
import { codec, scip, type Plain, type sigma } from '../../wire/codec.js';

export type ScipMetadata = Plain<
  sigma.scip.Metadata,
  { tool_info: Plain<sigma.scip.ToolInfo> | null }
>;
export type ScipDocument = Plain<sigma.scip.Document>;

/** Of a file: one of the Linux kernel has about 4 GB. */
const fileBytesMax = 8 * 1024 ** 3;
/** Of one document, which is decoded as a whole. */
const documentBytesMax = 64 * 1024 * 1024;
const chunkBytes = 1024 * 1024;

const metadataCodec = codec<ScipMetadata>(scip.Metadata);
const documentCodec = codec<ScipDocument>(scip.Document);
/** Fields of an index, as `scip.proto` numbers them. */
const field = { metadata: 1, documents: 2 } as const;
const wire = { varint: 0, eight: 1, bytes: 2, four: 5 } as const;

/** A SCIP index, read document by document: there is never more than one of them in memory. */
export class ScipFile implements AsyncDisposable {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #hash = createHash('sha256');
  #buffer = Buffer.alloc(0);

  private constructor(
    path: string,
    handle: FileHandle,
    private readonly size: number,
  ) {
    this.#path = path;
    this.#handle = handle;
  }

  /** Throws SCIP_UNREADABLE, SCIP_TOO_LARGE. */
  static async open(path: string): Promise<ScipFile> {
    let handle: FileHandle | undefined;
    try {
      handle = await open(path);
      const found = await handle.stat();
      if (!found.isFile()) throw new Error('it is not a file');
      if (found.size <= fileBytesMax) return new ScipFile(path, handle, found.size);
    } catch (error) {
      await handle?.close();
      const detail = error instanceof Error ? error.message : String(error);
      throw new BusError('SCIP_UNREADABLE', { path, detail }, { cause: error });
    }
    await handle.close();
    throw new BusError('SCIP_TOO_LARGE', { path, what: 'bytes', limit: fileBytesMax });
  }

  /** Comes first. Throws SCIP_INVALID. */
  async metadata(): Promise<ScipMetadata> {
    const first = await this.#next();
    if (first?.number !== field.metadata || first.bytes === undefined)
      throw this.#invalid('it does not begin with metadata');
    const metadata = this.#decoded(metadataCodec, first.bytes);
    if (metadata.version !== 0) throw this.#invalid(`its protocol version is ${metadata.version}`);
    return metadata;
  }

  /** After `metadata`. Throws SCIP_INVALID, SCIP_TOO_LARGE. */
  async *documents(): AsyncGenerator<ScipDocument> {
    for (let each = await this.#next(); each !== undefined; each = await this.#next())
      if (each.number === field.documents && each.bytes !== undefined)
        yield this.#decoded(documentCodec, each.bytes);
  }

  /** SHA-256 of what was read, which is all of it when `documents` has ended. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  /** The next field of the index; undefined at the end. `bytes`: of a message only. */
  async #next(): Promise<{ number: number; bytes: Buffer | undefined } | undefined> {
    if (!(await this.#fill(1))) return undefined;
    const tag = await this.#varint();
    const number = Math.floor(tag / 8);
    switch (tag % 8) {
      case wire.bytes: {
        const length = await this.#varint();
        if (length > documentBytesMax) {
          const what = 'bytes in one document';
          throw new BusError('SCIP_TOO_LARGE', { path: this.#path, what, limit: documentBytesMax });
        }
        return { number, bytes: await this.#take(length) };
      }
      case wire.varint:
        await this.#varint();
        break;
      case wire.eight:
        await this.#take(8);
        break;
      case wire.four:
        await this.#take(4);
        break;
      default:
        throw this.#invalid('it is not a protobuf message');
    }
    return { number, bytes: undefined };
  }

  async #varint(): Promise<number> {
    let value = 0;
    for (let factor = 1; factor < 2 ** 49; factor *= 128) {
      const [byte = 0] = await this.#take(1);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw this.#invalid('it is not a protobuf message');
  }

  async #take(length: number): Promise<Buffer> {
    if (!(await this.#fill(length))) throw this.#invalid('it ends within a message');
    const taken = this.#buffer.subarray(0, length);
    this.#buffer = this.#buffer.subarray(length);
    return taken;
  }

  /** Whether the buffer has this many bytes now. */
  async #fill(length: number): Promise<boolean> {
    if (this.#buffer.length >= length) return true;
    const parts = [this.#buffer];
    for (let have = this.#buffer.length; have < length;) {
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(this.size, 1)));
      const { bytesRead } = await this.#handle.read(chunk).catch((error: unknown) => {
        const detail = error instanceof Error ? error.message : String(error);
        throw new BusError('SCIP_UNREADABLE', { path: this.#path, detail }, { cause: error });
      });
      if (bytesRead === 0) return false;
      const read = chunk.subarray(0, bytesRead);
      this.#hash.update(read);
      parts.push(read);
      have += bytesRead;
    }
    this.#buffer = Buffer.concat(parts);
    return true;
  }

  #decoded<T>(its: { decode(bytes: Uint8Array): T }, bytes: Buffer): T {
    try {
      return its.decode(bytes);
    } catch (error) {
      throw this.#invalid('a message in it cannot be decoded', error);
    }
  }

  #invalid(detail: string, cause?: unknown): BusError {
    return new BusError('SCIP_INVALID', { path: this.#path, detail }, { cause });
  }
}
