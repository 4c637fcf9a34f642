import { readdir, readFile, writeFile } from 'node:fs/promises';
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

/** A tree with a home for its index, its clone with another home, and a folder to publish to. */
export interface Sharing extends AsyncDisposable {
  here: Side;
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

export async function sharing(files: Record<string, string | Buffer>): Promise<Sharing> {
  const trees = await Promise.all([
    TemporaryTree.create(files),
    ...[TemporaryTree.create(), TemporaryTree.create(), TemporaryTree.create()],
    TemporaryTree.create(),
  ] as const);
  const [tree, home, clone, otherHome, published] = trees;
  tree.commit('first');
  clone.git('clone', '-q', tree.root, '.');
  return {
    here: sideOf(tree, home.root),
    there: sideOf(clone, otherHome.root),
    folder: published.root,
    place: new FolderPlace(published.root),
    [Symbol.asyncDispose]: async () => {
      for (const each of trees) await each[Symbol.asyncDispose]();
    },
  };
}

function sideOf(tree: TemporaryTree, home: string): Side {
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

/** Paths below a folder of what is published, largest first by name. */
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
        const { mkdir } = await import('node:fs/promises');
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
