import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { indexFolder, type IndexRequest } from '../../../../../src/pgc/build/index-folder.js';
import { FolderPlace } from '../../../../../src/pgc/build/share/folder-place.js';
import { publishIndex } from '../../../../../src/pgc/build/share/publish-index.js';
import type { PublishedPlace } from '../../../../../src/pgc/build/share/published-place.js';
import { pullIndex, type PullRequest } from '../../../../../src/pgc/build/share/pull-index.js';
import { openIndex } from '../../../../../src/pgc/search/open-index.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

/** A tree of two commits, whose indexes are published; each test has clones and copies of its own. */
export interface Sharing extends AsyncDisposable {
  here: Side;
  first: string;
  second: string;
  /** What is published. */
  folder: string;
  place: PublishedPlace;
}

/** A clone at `commit` without an index, and a copy of what is published, to be spoilt. */
export interface Guest extends AsyncDisposable {
  there: Side;
  folder: string;
  place: PublishedPlace;
}

export interface Side {
  tree: TemporaryTree;
  home: string;
  index: (more?: Partial<IndexRequest>) => ReturnType<typeof indexFolder>;
  publish: (to: PublishedPlace, isChecked?: boolean) => ReturnType<typeof publishIndex>;
  pull: (from: PublishedPlace, more?: Partial<PullRequest>) => ReturnType<typeof pullIndex>;
  /** All symbols and call sites, with where they are. */
  graph: () => Promise<string[]>;
}

const slab = '/* Gives memory. */\nvoid *kmalloc(int size)\n{\n\treturn alloc_pages(size);\n}\n';
export const pages = '/* Gives pages. */\nvoid *alloc_pages(int order)\n{\n\treturn 0;\n}\n';
export const dev = 'int netif_rx(void)\n{\n\treturn kmalloc(1) != 0;\n}\n';
const sources = { 'mm/slab.c': slab, 'mm/pages.c': pages, 'net/dev.c': dev, 'README.md': '# It\n' };
export const shards = {
  shards: [
    { alias: 'mm', paths: ['mm'] },
    { alias: 'rest', paths: ['.'] },
  ],
};

export async function sharing(): Promise<Sharing> {
  const [tree, home, published] = await Promise.all([
    TemporaryTree.create(sources),
    TemporaryTree.create(),
    TemporaryTree.create(),
  ]);
  const here = sideOf(tree, home.root);
  const place = new FolderPlace(published.root);
  const first = tree.commit('first');
  await here.index({ shards });
  await here.publish(place);
  await tree.write({ 'net/dev.c': dev.replace('1', '2') });
  const second = tree.commit('second');
  await here.index();
  await here.publish(place);
  return {
    ...{ here, first, second, folder: published.root, place },
    [Symbol.asyncDispose]: async () => {
      for (const each of [tree, home, published]) await each[Symbol.asyncDispose]();
    },
  };
}

export async function guestOf({ here, folder }: Sharing, commit: string): Promise<Guest> {
  const trees = await Promise.all([
    TemporaryTree.create(),
    TemporaryTree.create(),
    TemporaryTree.create(),
  ]);
  const [tree, home, copy] = trees;
  tree.git('clone', '-q', here.tree.root, '.');
  tree.git('checkout', '-q', commit);
  await cp(folder, copy.root, { recursive: true });
  return {
    ...{ there: sideOf(tree, home.root), folder: copy.root, place: new FolderPlace(copy.root) },
    [Symbol.asyncDispose]: async () => {
      for (const each of trees) await each[Symbol.asyncDispose]();
    },
  };
}

export function sideOf(tree: TemporaryTree, home: string): Side {
  const common = { root: tree.root, home };
  return {
    ...{ tree, home },
    index: (more = {}) => indexFolder({ ...common, jobs: 0, ...more }),
    publish: (to, isChecked = false) => publishIndex({ ...common, to, sigma: '1.0.0', isChecked }),
    pull: (from, more = {}) => pullIndex({ ...common, from, ...more }),
    graph: async () => {
      const { shards } = await openIndex(tree.root, home);
      return shards.flatMap((index) =>
        Array.from({ length: index.symbolCount }, (_, at) => {
          const symbol = index.symbol(at);
          const sites = index.callsTo(symbol.name).map(({ line }) => line);
          return JSON.stringify([index.info.alias, symbol, sites]);
        }),
      );
    },
  };
}

/** Of a published folder. */
export async function objectsIn(folder: string): Promise<string[]> {
  const all = await readdir(join(folder, 'objects'), { recursive: true });
  return all
    .filter((name) => name.includes('/'))
    .map((name) => join(folder, 'objects', name))
    .sort();
}

/** What a server does with a request, instead of answering from its folder; undefined: nothing. */
type Fault = (request: IncomingMessage, response: ServerResponse) => Promise<boolean> | boolean;

export interface Web extends AsyncDisposable {
  address: string;
  /** `METHOD path` of each request. */
  asked: string[];
}

/** A static server that takes PUT. */
export async function served(folder: string, fault: Fault = () => false): Promise<Web> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { pathname } = new URL(request.url ?? '', 'http://localhost');
      asked.push(`${request.method} ${pathname}`);
      if (await fault(request, response)) return;
      const path = join(folder, pathname);
      if (request.method === 'PUT') {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        await mkdir(join(path, '..'), { recursive: true });
        await writeFile(path, Buffer.concat(chunks));
        response.writeHead(201).end();
        return;
      }
      const bytes = await readFile(path).catch(() => undefined);
      if (bytes === undefined) response.writeHead(404).end();
      else
        response
          .writeHead(200, { 'content-length': bytes.length })
          .end(request.method === 'HEAD' ? undefined : bytes);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
