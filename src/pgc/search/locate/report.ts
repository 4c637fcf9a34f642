import { isText, cutAtWord } from '../../../base/text.js';
import { BusError } from '../../../errors/bus-error.js';
import { bodyTermsOf, identifiersOf } from '../../format/words.js';
import { framesMax, framesOf, isGeneric, isInnermostLast, type Frame } from './frames.js';
import { LineReader, lineCharsMax, plainLine, type ReportLine } from './report-lines.js';

/** A report of a fault, or any text. */
export interface Report {
  title: string;
  description: string;
}

/** Characters; what comes after them is not read. */
export const reportCharsMax = 1024 * 1024;
/** Different words of one section that are looked up. */
export const sectionWordsMax = 1_500;
/** Of each kind of thing that a report names. */
const namedMax = 200;
const tokenCharsMax = 400;
const titleCharsMax = 400;
/** What functions are ranked by: more says less about what is sought. */
const saidCharsMax = 500;
/** Different messages of a log whose words are looked up. */
const messagesMax = 40;

export const sectionNames = ['title', 'prose', 'log'] as const;
export type SectionName = (typeof sectionNames)[number];

/** A term of the index with how often it stands in a section, and how it is written there first. */
interface SectionTerm {
  /** Of a log: lines that have it. */
  count: number;
  spelling: string;
  /** How many words stand before the first. */
  place: number;
}

/** What a report says, by how it says it. */
export interface ParsedReport {
  title: string;
  /** The title and the first sentences. */
  said: string;
  terms: Record<SectionName, Map<string, SectionTerm>>;
  /** Lines of logs, without stamps, each once. */
  logLines: string[];
  /** Innermost first; without those that stand in every trace, and each function once. */
  frames: Frame[];
  paths: { path: string; line: number }[];
  /** Names that are written as names of code are, in the order of their places. */
  symbols: { name: string; isInTitle: boolean; isCall: boolean }[];
  /** Words and compounds as files and folders are named, by how much they count: a part of one half as much. */
  titleNames: Map<string, number>;
  /** `CONFIG_…`. */
  options: string[];
  /** Ids of PCI and USB devices, lower case, without `0x`: vendor where it is known, and device. */
  devices: { vendor: string; device: string; text: string }[];
  /** Drivers that print log lines, and modules of frames. */
  drivers: string[];
  versions: string[];
  /** What was not read, in sentences. */
  warnings: string[];
}

/** The first line that says something is the title. */
export function reportOf(text: string): Report {
  const start = text.search(/\S/);
  if (start < 0) return { title: '', description: '' };
  const end = text.indexOf('\n', start);
  if (end < 0) return { title: text.slice(start).trim(), description: '' };
  return { title: text.slice(start, end).trim(), description: text.slice(end + 1) };
}

/** Throws REPORT_UNREADABLE for a report that is not text, REPORT_EMPTY for one without a word. */
export function parseReport({ title, description }: Report): ParsedReport {
  if (!isText(title + description.slice(0, reportCharsMax)))
    throw new BusError('REPORT_UNREADABLE', { detail: 'it is not text' });
  const head = cutAtWord(title, titleCharsMax);
  const reading = new Reading(head);
  if (title.length > head.length) reading.read(title.slice(head.length, reportCharsMax));
  reading.read(description.slice(0, reportCharsMax));
  if (description.length > reportCharsMax)
    reading.warn(`only the first ${reportCharsMax} characters were read, of ${description.length}`);
  const parsed = reading.finish();
  const isEmpty = sectionNames.every((name) => parsed.terms[name].size === 0);
  if (isEmpty && parsed.frames.length + parsed.paths.length === 0)
    throw new BusError('REPORT_EMPTY');
  return parsed;
}

const optionPattern = /\bCONFIG_[A-Z0-9_]{2,80}/g;
const deviceIds = /(?<![\w:.-])([0-9a-f]{4}):([0-9a-f]{4})(?![\w:.-])/gi;
const deviceNumber = /(?<![\w+])0x([0-9a-f]{4})(?![\w/])/gi;
const versionPattern =
  /(?<![\w.])v?\d{1,3}\.\d{1,4}(?:\.\d{1,4}){0,2}(?:-rc\d{1,2})?(?![\w.]{0,40}:)/g;
const codeExtension =
  /\.(?:c|h|S|s|cc|cpp|cxx|hh|hpp|hxx|[cm]?[jt]s|[jt]sx|pyi?|go|rs|java|kt|rst|md|txt|sh|mk|ya?ml|toml|dtsi?)$/;
const wordOfCode = /_|[a-z][A-Z]/;

class Reading {
  readonly #title: string;
  #said: string;
  readonly #terms = {
    title: new Map<string, SectionTerm>(),
    prose: new Map<string, SectionTerm>(),
    log: new Map<string, SectionTerm>(),
  };
  readonly #cut = new Set<SectionName>();
  readonly #logLines = new Set<string>();
  #frames: Frame[] = [];
  readonly #paths = new Map<string, number>();
  readonly #symbols = new Map<string, ParsedReport['symbols'][number]>();
  /** How messages of the log look without their numbers. */
  readonly #messages = new Set<string>();
  #place = 0;
  readonly #options = new Set<string>();
  readonly #devices = new Map<string, ParsedReport['devices'][number]>();
  readonly #drivers = new Set<string>();
  readonly #versions = new Set<string>();
  readonly #warnings: string[] = [];
  #letters = { latin: 0, others: 0 };

  constructor(title: string) {
    this.#title = title;
    this.#said = title;
    this.#count('title', title);
    this.#noteNames(title);
    this.#pathsIn(title);
    this.#symbolsIn(title, true);
    this.#place = 0;
    this.#frames.push(...framesOf(title, ''));
  }

  warn(warning: string): void {
    this.#warnings.push(warning);
  }

  read(description: string): void {
    const lines = new LineReader();
    let before = '';
    /** Where the frames begin that stand outermost first. */
    let reversed: number | undefined;
    for (let at = 0; at < description.length;) {
      const newline = description.indexOf('\n', at);
      const end = newline < 0 ? description.length : newline;
      const plain = plainLine(description.slice(at, end).replace(/\r$/, ''));
      at = end + 1;
      const head = plain.text.slice(0, lineCharsMax);
      const frames = framesOf(head, before);
      if (isInnermostLast(head)) reversed ??= this.#frames.length;
      else if (reversed !== undefined && /^\S/.test(head)) reversed = this.#turn(reversed);
      this.#addFrames(frames);
      // Warnings give the place of the fault beside the function.
      this.#pathsIn(plain.text);
      this.#take(frames.length > 0 ? lines.finish() : lines.read(plain));
      before = head;
    }
    this.#take(lines.finish());
    if (reversed !== undefined) this.#turn(reversed);
  }

  #take(lines: readonly ReportLine[]): void {
    for (const { kind, text, driver } of lines) {
      if (kind === 'log') this.#readLog(text, driver);
      else if (kind === 'prose') this.#readProse(text);
    }
  }

  finish(): ParsedReport {
    for (const section of this.#cut)
      this.warn(
        `only the first ${sectionWordsMax} different words of the ${section} were looked up`,
      );
    const { latin, others } = this.#letters;
    if (others > latin)
      this.warn(
        'most of the report is not in Latin letters: what its names and numbers do not find is found by words of the same language only',
      );
    const frames = distinctFrames(this.#frames);
    for (const { module } of frames) if (module !== '') add(this.#drivers, module);
    return {
      title: this.#title,
      said: cutAtWord(this.#said, saidCharsMax),
      terms: this.#terms,
      logLines: [...this.#logLines],
      frames,
      paths: [...this.#paths].map(([path, line]) => ({ path, line })),
      symbols: [...this.#symbols.values()],
      titleNames: namesIn(this.#title),
      options: [...this.#options],
      devices: [...this.#devices.values()],
      drivers: [...this.#drivers],
      versions: [...this.#versions],
      warnings: this.#warnings,
    };
  }

  /** A trace that ends with the innermost frame is turned round; returns that none is open. */
  #turn(from: number): undefined {
    this.#frames.push(...this.#frames.splice(from).reverse());
    return undefined;
  }

  #addFrames(frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (this.#frames.length < 4 * framesMax) this.#frames.push(frame);
      if (frame.path !== '') this.#addPath(frame.path, frame.line);
    }
  }

  #readLog(text: string, driver: string): void {
    if (driver !== '') add(this.#drivers, driver);
    // The same message a thousand times is one message.
    if (this.#logLines.has(text)) return;
    if (this.#logLines.size < namedMax * 10) this.#logLines.add(text);
    this.#noteNames(text);
    const plain = text.slice(0, lineCharsMax).replace(/0x[0-9a-f]+|\d+/gi, '#');
    if (this.#messages.has(plain) || this.#messages.size >= messagesMax) return;
    this.#messages.add(plain);
    this.#count('log', plain);
  }

  #readProse(text: string): void {
    if (this.#said.length < saidCharsMax) this.#said = `${this.#said} ${text}`.trim();
    this.#count('prose', text);
    this.#noteNames(text);
    this.#symbolsIn(text, false);
  }

  #count(section: SectionName, text: string): void {
    const terms = this.#terms[section];
    const seen = new Set<string>();
    for (const identifier of identifiersOf(text)) {
      this.#place += 1;
      if (/[a-z]/i.test(identifier)) this.#letters.latin += 1;
      else this.#letters.others += 1;
      for (const term of bodyTermsOf(identifier)) {
        const known = terms.get(term);
        // A line of a log counts once.
        if (known !== undefined) known.count += section === 'log' && seen.has(term) ? 0 : 1;
        else if (terms.size < sectionWordsMax)
          terms.set(term, { count: 1, spelling: identifier, place: this.#place });
        else this.#cut.add(section);
        seen.add(term);
      }
    }
  }

  #symbolsIn(text: string, isInTitle: boolean): void {
    for (const [, name = '', call] of text.matchAll(/([A-Za-z_][A-Za-z0-9_]{1,127})(\()?/g)) {
      if (name.length < 4 || name.startsWith('CONFIG_')) continue;
      if (call === undefined && !wordOfCode.test(name)) continue;
      const known = this.#symbols.get(name) ?? { name, isInTitle, isCall: false };
      known.isCall ||= call !== undefined;
      if (this.#symbols.size < namedMax) this.#symbols.set(name, known);
    }
  }

  /** Notes the options, devices and versions that a text names. */
  #noteNames(text: string): void {
    for (const [option] of text.matchAll(optionPattern)) add(this.#options, option);
    for (const [whole, vendor = '', device = ''] of text.matchAll(deviceIds))
      this.#addDevice(vendor, device, whole);
    for (const [whole, device = ''] of text.matchAll(deviceNumber))
      this.#addDevice('', device, whole);
    for (const [version] of text.matchAll(versionPattern)) add(this.#versions, version);
  }

  #pathsIn(text: string): void {
    for (const token of text.split(/[\s"'`<>()[\]{},;|=*]+/)) this.#addToken(token);
  }

  #addToken(token: string): void {
    if (token.length > tokenCharsMax || !token.includes('.')) return;
    const [, path = '', line = '0'] =
      /^([^:?#]{3,400}?)(?::(\d{1,7}))?(?::\d{0,7})?[.:!?]{0,3}$/.exec(token) ?? [];
    if (codeExtension.test(path)) this.#addPath(path, Number(line));
  }

  #addPath(path: string, line: number): void {
    if (this.#paths.size < namedMax && !this.#paths.has(path)) this.#paths.set(path, line);
  }

  #addDevice(vendor: string, device: string, text: string): void {
    const key = `${vendor}:${device}`.toLowerCase();
    if (this.#devices.size >= namedMax || this.#devices.has(key)) return;
    this.#devices.set(key, {
      ...{ vendor: vendor.toLowerCase(), device: device.toLowerCase(), text },
    });
  }
}

function add(names: Set<string>, name: string): void {
  if (names.size < namedMax) names.add(name);
}

/** `snd-hda-intel` gives itself, as `snd_hda_intel`, and its parts. */
function namesIn(text: string): Map<string, number> {
  const names = new Map<string, number>();
  for (const [found] of text.matchAll(/[A-Za-z0-9]{2,40}(?:[-_][A-Za-z0-9]{1,30}){0,5}/g)) {
    const whole = found.toLowerCase().replaceAll('-', '_');
    names.set(whole, 1);
    for (const part of whole.split('_'))
      if (part.length > 2 && !names.has(part)) names.set(part, 0.5);
  }
  return names;
}

/** Each function where it stands first; where the fault is before all others. */
function distinctFrames(frames: readonly Frame[]): Frame[] {
  const telling = frames.filter((frame) => frame.symbol !== '' && !isGeneric(frame));
  const first = new Map<string, Frame>();
  for (const frame of [
    ...telling.filter(({ isFault }) => isFault),
    ...telling.filter(({ isFault }) => !isFault),
  ]) {
    const known = first.get(frame.symbol);
    if (known === undefined) first.set(frame.symbol, frame);
    // Seen once without doubt, it is without doubt.
    else if (known.isUncertain && !frame.isUncertain)
      first.set(frame.symbol, { ...known, isUncertain: false });
  }
  return [...first.values()].slice(0, framesMax);
}
