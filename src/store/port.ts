/** One change of the store. Operations handed over together happen together or not at all. */
export type Operation = { type: 'put'; key: string; value: Buffer } | { type: 'del'; key: string };

export interface Range {
  /** All keys that start with this, in key order. */
  prefix: string;
  /** Start behind this key. */
  after?: string;
  limit?: number;
}

/** An ordered map of text keys to bytes, owned by one process at a time. */
export interface Store extends AsyncDisposable {
  get(key: string): Promise<Buffer | undefined>;
  /** In the order of `keys`. */
  getMany(keys: string[]): Promise<(Buffer | undefined)[]>;
  entries(range: Range): AsyncIterable<[key: string, value: Buffer]>;
  keys(range: Range): AsyncIterable<string>;
  /** Resolves after fsync. Everything that waits when a write starts rides in that write. */
  commit(operations: Operation[]): Promise<void>;
  /** Not synced: for what can be computed again. */
  write(operations: Operation[]): Promise<void>;
}
