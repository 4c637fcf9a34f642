import { readdirSync, type Dirent } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};
const index = '/index.html';
/** Named after what is in them. */
const assets = '/assets/';

export interface PageFile {
  read: () => Promise<Buffer>;
  headers: Readonly<Record<string, string>>;
}

/** The files of the built page. A path that is asked for is looked up among them, and never made a path of the disk. */
export class PageFiles {
  readonly #files: ReadonlyMap<string, PageFile>;

  private constructor(files: ReadonlyMap<string, PageFile>) {
    this.#files = files;
  }

  /** Undefined: the page was not built. */
  static of(folder: string): PageFiles | undefined {
    const files = new Map(entriesOf(folder).map((file) => fileAt(folder, file)));
    return files.has(index) ? new PageFiles(files) : undefined;
  }

  /** The page itself has a path for each of its views. */
  at(asked: string): PageFile | undefined {
    const [, first = ''] = asked.split('/');
    const isView = asked.startsWith('/') && !first.includes('.') && !asked.startsWith(assets);
    return this.#files.get(asked) ?? (isView ? this.#files.get(index) : undefined);
  }
}

function entriesOf(folder: string): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch {
    return [];
  }
  return entries
    .filter((each) => each.isFile())
    .map((each) => path.join(each.parentPath, each.name));
}

function fileAt(folder: string, file: string): [asked: string, file: PageFile] {
  const asked = `/${path.relative(folder, file).split(path.sep).join('/')}`;
  const headers = {
    'content-type': types[path.extname(file)] ?? 'application/octet-stream',
    'cache-control': asked.startsWith(assets) ? 'max-age=31536000, immutable' : 'no-cache',
  };
  return [asked, { read: () => readFile(file), headers }];
}
