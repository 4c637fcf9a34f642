import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join, posix, relative } from 'node:path';
import { decodeFacts, encodeFacts } from '../../../dist/src/pgc/format/packed-facts.js';
import {
  writeSections,
  segmentLayout,
} from '../../../dist/src/pgc/format/container/segment-file.js';
import { SegmentWriter } from '../../../dist/src/pgc/format/segment-writer.js';
import { Segment } from '../../../dist/src/pgc/format/segment.js';
import { Miner } from '../../../dist/src/pgc/mine/mine.js';
import { blobId } from '../../../dist/src/pgc/source/blob.js';
import { languageIn, languageOf } from '../../../dist/src/pgc/source/language.js';
import { isCode } from '../../../dist/src/pgc/format/facts.js';

const manifestName =
  /^(?:go\.mod|pyproject\.toml|setup\.cfg|Cargo\.toml|package\.json|[jt]sconfig(?:\..+)?\.json)$/;
const bytesMax = 1024 * 1024;

/** A tree in memory: its texts can be changed, and only units with changed texts are written again. */
export class Tree {
  /** By path: `{ bytes, facts, file, unit }`; facts are packed. */
  texts = new Map();
  manifests = [];
  units = [];
  #miner = new Miner();
  #dirty = new Set();
  #written = 0;

  static async open(root, folder, linesOfUnit) {
    const tree = new Tree();
    tree.folder = folder;
    tree.linesOfUnit = linesOfUnit;
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    const paths = (await filesBelow(root)).map((path) => relative(root, path)).sort(compare);
    let [unit, lines] = [0, 0];
    for (const path of paths) {
      const bytes = await readFile(join(root, path));
      if (bytes.length > bytesMax) continue;
      if (lines > linesOfUnit) [unit, lines] = [unit + 1, 0];
      if (await tree.set(path, bytes, unit)) lines += tree.texts.get(path).file.lines;
    }
    await tree.write();
    return tree;
  }

  /** False: it is no code. */
  async set(path, bytes, unit = this.texts.get(path)?.unit ?? this.#near(path)) {
    const named = languageOf(path);
    const language = named && languageIn(named, path, bytes);
    const isManifest = manifestName.test(basename(path));
    if (language === undefined || (!isCode(language) && !isManifest)) return false;
    const facts = await this.#miner.mine(language, bytes);
    if (isManifest) this.manifests.push({ path, types: facts.types });
    if (!isCode(language)) return false;
    const file = { path, blob: blobId(bytes), language, lines: facts.lines };
    this.texts.set(path, { bytes, file, unit, facts: Buffer.from(encodeFacts(facts)) });
    this.#dirty.add(unit);
    return true;
  }

  delete(path) {
    this.#dirty.add(this.texts.get(path).unit);
    this.texts.delete(path);
  }

  /** The unit of the text whose path comes before. */
  #near(path) {
    let unit = 0;
    for (const [other, its] of this.texts)
      if (compare(other, path) < 0) unit = Math.max(unit, its.unit);
    return unit;
  }

  /** Writes the units with changed texts. */
  async write() {
    for (const unit of this.#dirty) {
      const writer = new SegmentWriter();
      const texts = [...this.texts]
        .filter(([, its]) => its.unit === unit)
        .sort(([one], [other]) => compare(one, other));
      for (const [, { file, facts }] of texts) writer.add(file, decodeFacts(facts));
      const path = join(this.folder, `${(this.#written += 1)}.seg`);
      const info = {
        agent: 'u',
        alias: `u${unit}`,
        project: 'p',
        root: '',
        scope: [],
        languages: [...new Set(texts.map(([, { file }]) => file.language))],
      };
      await writeSections(
        path,
        segmentLayout,
        writer.finish({
          ...info,
          files: 0,
          lines: 0,
          version: '',
          overlays: {},
          abbreviations: [],
        }),
      );
      this.units[unit] = await Segment.open(path);
      await rm(path);
    }
    this.#dirty.clear();
  }
}

async function filesBelow(folder) {
  const found = [];
  for (const each of await readdir(folder, { withFileTypes: true })) {
    if (each.name === '.git' || each.name === 'node_modules') continue;
    const path = posix.join(folder, each.name);
    if (each.isDirectory()) found.push(...(await filesBelow(path)));
    else if (each.isFile()) found.push(path);
  }
  return found;
}

function compare(one, other) {
  return one < other ? -1 : one > other ? 1 : 0;
}
