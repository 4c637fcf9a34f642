import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Change } from '../../src/pgc/bind/change/change.js';
import { bindPointers } from '../../src/pgc/bind/pointers/bind-pointers.js';
import { bindProgram } from '../../src/pgc/bind/program/bind-program.js';
import { bindChange } from '../../src/pgc/build/binding/bind-change.js';
import { languageRules } from '../../src/pgc/build/binding/bind-shards.js';
import { BindingWriter } from '../../src/pgc/build/binding/binding-writer.js';
import { Section } from '../../src/pgc/format/container/section.js';
import { BoundCalls, type BoundCallsWriter } from '../../src/pgc/format/bound-calls.js';
import { segmentLayout, writeSections } from '../../src/pgc/format/container/segment-file.js';
import { SegmentWriter } from '../../src/pgc/format/segment-writer.js';
import { Segment } from '../../src/pgc/format/segment.js';
import { Miner } from '../../src/pgc/mine/mine.js';
import { blobId } from '../../src/pgc/source/blob.js';
import { languageOf } from '../../src/pgc/source/language.js';

/** By path; each top folder is a unit. */
export type Texts = Record<string, string>;

/** A tree in memory that is bound, changed and bound again. */
export class BoundUnits {
  /** Calls and uses that the last change has bound anew. */
  sites = 0;
  readonly #miner = new Miner();
  readonly #texts: Texts = {};
  #units: Segment[] = [];
  #bound: BoundCalls[] = [];

  static async of(texts: Texts): Promise<BoundUnits> {
    const made = new BoundUnits();
    Object.assign(made.#texts, texts);
    made.#units = await made.#written(folderNames(texts), []);
    made.#bound = made.#whole();
    return made;
  }

  /** Undefined deletes a text. Gives what differs from a binding of everything, and the units that were written anew. */
  async change(
    texts: Record<string, string | undefined>,
  ): Promise<{ wrong: string[]; written: number[] }> {
    const folders = folderNames(this.#texts);
    for (const [path, text] of Object.entries(texts))
      if (text === undefined) Reflect.deleteProperty(this.#texts, path);
      else this.#texts[path] = text;
    const changed = new Set(Object.keys(texts).map((path) => path.split('/')[0] ?? ''));
    const before = this.#units.map((index, unit) => ({
      index,
      bound: this.#bound[unit] as BoundCalls,
    }));
    const kept = folders.map((folder, unit) =>
      changed.has(folder) ? undefined : this.#units[unit],
    );
    this.#units = await this.#written(folders, kept);
    const same = kept.flatMap((each, unit): [number, number][] =>
      each === undefined ? [] : [[unit, unit]],
    );
    const written: number[] = [];
    const update = bindChange(new Change(this.#units, before, same), languageRules([]));
    this.#bound = [...update.end()].map((writer, unit) => {
      if (writer === 'as before') return before[unit]?.bound as BoundCalls;
      written.push(unit);
      return boundIn(writer);
    });
    this.sites = update.sites;
    const whole = this.#whole();
    const wrong = this.#units.flatMap((index, unit) =>
      differences(index, this.#bound[unit] as BoundCalls, whole[unit] as BoundCalls),
    );
    return { wrong, written };
  }

  /** What calls of a name are bound to: `path:line` of the site, its binding, and the texts of the targets. */
  callsTo(name: string): string[] {
    return this.#units.flatMap((index, unit) =>
      index.callsTo(name).map(({ id, file, line }) => {
        const bound = this.#bound[unit] as BoundCalls;
        const targets = bound.targetsOf(id).map((each) => bound.target(each));
        const places = targets.map(({ path, line: at }) => (at > 0 ? `${path}:${at}` : path));
        return [`${index.file(file).path}:${line}`, bound.bindingOf(id), ...places].join(' ');
      }),
    );
  }

  #whole(): BoundCalls[] {
    const writing = new BindingWriter(this.#units, undefined);
    for (const each of languageRules([])) writing.add(bindProgram(this.#units, each));
    writing.add(bindPointers(this.#units));
    return writing.end().map((writer) => boundIn(writer));
  }

  async #written(
    folders: readonly string[],
    kept: readonly (Segment | undefined)[],
  ): Promise<Segment[]> {
    const folder = await mkdtemp(join(tmpdir(), 'sigma-units-'));
    try {
      const units: Segment[] = [];
      for (const [unit, top] of folders.entries())
        units.push(kept[unit] ?? (await this.#segment(top, join(folder, `${unit}.seg`))));
      return units;
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  async #segment(top: string, path: string): Promise<Segment> {
    const writer = new SegmentWriter();
    const its = Object.entries(this.#texts).filter(([each]) => each.startsWith(`${top}/`));
    for (const [name, text] of its.sort(([one], [other]) => (one < other ? -1 : 1))) {
      const [bytes, language = 'text'] = [Buffer.from(text), languageOf(name)];
      const facts = await this.#miner.mine(language, bytes);
      writer.add({ path: name, blob: blobId(bytes), language, lines: facts.lines }, facts);
    }
    const languages = [...new Set(its.map(([name]) => languageOf(name) ?? 'text'))];
    const info = { agent: top, alias: top, project: 'p', root: '', scope: [], languages };
    const counts = { files: its.length, lines: 0, version: '', overlays: {}, abbreviations: [] };
    await writeSections(path, segmentLayout, writer.finish({ ...info, ...counts }));
    return Segment.open(path);
  }
}

function boundIn(writer: BoundCallsWriter): BoundCalls {
  const sections = Object.entries(writer.sections()).map(([name, bytes]) => [
    name,
    Section.of(bytes),
  ]);
  return new BoundCalls(
    Object.fromEntries(sections) as ConstructorParameters<typeof BoundCalls>[0],
  );
}

function folderNames(texts: Texts): string[] {
  return [...new Set(Object.keys(texts).map((path) => path.split('/')[0] ?? ''))].sort();
}

function differences(index: Segment, one: BoundCalls, other: BoundCalls): string[] {
  const said = (bound: BoundCalls, site: number): string =>
    JSON.stringify([bound.bindingOf(site), bound.targetsOf(site).map((id) => bound.target(id))]);
  const sites = Array.from({ length: index.siteCount }, (_, site) => site)
    .filter((site) => said(one, site) !== said(other, site))
    .map((site) => `${index.site(site).callee} ${said(one, site)} not ${said(other, site)}`);
  const pairs = (bound: BoundCalls): string =>
    JSON.stringify([...bound.implementations()].map((ids) => ids.map((id) => bound.target(id))));
  return pairs(one) === pairs(other) ? sites : [...sites, `${pairs(one)} not ${pairs(other)}`];
}
