import { streamGit, type GitEnd } from './git-stream.js';
import { NulTokens } from './nul-tokens.js';

/** A kernel of 80 000 files takes 8 MiB. */
const listingBytesMax = 512 * 1024 * 1024;
const listingMsMax = 120_000;

/** One entry of a commit's tree; never a folder. */
export interface TreeEntry {
  /** `100644`, `100755`, `120000` for a symbolic link, `160000` for a submodule. */
  mode: string;
  /** Object id in hex. */
  id: string;
  /** Relative to the folder. */
  path: string;
  /** False when `path` only resembles the name: not UTF-8, or cut. */
  isExact: boolean;
}

export interface FileName {
  name: string;
  /** False when the name is not UTF-8; such a file cannot be opened by `name`. */
  isExact: boolean;
}

/** Calls back for every entry of a commit below `folder`, in git's order. */
export async function eachEntry(
  folder: string,
  commit: string,
  visit: (entry: TreeEntry) => void,
  signal?: AbortSignal,
): Promise<GitEnd> {
  const rows = new NulTokens((row, isCut) => {
    const tab = row.indexOf('\t');
    const [mode = '', , id = ''] = row.toString('latin1', 0, tab).split(' ');
    const { name, isExact } = fileNameOf(row.subarray(tab + 1));
    visit({ mode, id, path: name, isExact: isExact && !isCut });
  });
  const limits = { bytesMax: listingBytesMax, msMax: listingMsMax, signal };
  // In a sub-folder, git lists only what is below it, with paths relative to it.
  return streamGit(folder, ['ls-tree', '-r', '-z', commit], limits, (chunk) => {
    rows.push(chunk);
    return true;
  });
}

/** Decodes a file name. */
export function fileNameOf(bytes: Buffer): FileName {
  const name = bytes.toString('utf8');
  // What cannot be decoded becomes this character, which a name may also hold.
  return { name, isExact: !name.includes('\ufffd') || Buffer.from(name).equals(bytes) };
}
