import type { Excerpts } from '../../source/excerpt.js';
import type { FileRow } from '../../format/shard-index.js';
import { ReportMessages, type MatchedMessage } from './messages.js';
import { PassageFinder, type Passage } from './passages.js';
import { lineCharsMax } from './report-lines.js';
import type { ParsedReport } from './report.js';

/** Of a longer file only this much is read. */
const linesMax = 20_000;
/** A string of so many characters that stands in the log is as telling as one can be. */
const tellingChars = 40;

/** A device of the report that stands in the file. */
interface MatchedDevice {
  text: string;
  at: number;
}

/** What the text of one file says about the report: what of it is asked for is looked up once. */
export class Reading {
  readonly #lines: readonly string[];
  readonly #sought: Sought;
  #passage: Passage | undefined;
  #messages: MatchedMessage[] | undefined;
  #devices: MatchedDevice[] | undefined;

  constructor(lines: readonly string[], sought: Sought) {
    this.#lines = lines;
    this.#sought = sought;
  }

  get passage(): Passage {
    return (this.#passage ??= this.#sought.passages.best(this.#lines));
  }

  /** The longest first. */
  get messages(): readonly MatchedMessage[] {
    return (this.#messages ??= this.#sought.messages.matchesIn(this.#lines));
  }

  get devices(): readonly MatchedDevice[] {
    return (this.#devices ??= devicesIn(this.#lines, this.#sought.devices));
  }

  /** 0 to 1. */
  get string(): number {
    return Math.min(1, (this.messages[0]?.chars ?? 0) / tellingChars);
  }

  get device(): number {
    return this.devices.length > 0 ? 1 : 0;
  }
}

interface Sought {
  passages: PassageFinder;
  messages: ReportMessages;
  devices: ParsedReport['devices'];
}

/** Reads files for one report. What cannot be read, or has changed since it was indexed, says nothing. */
export class FileReader {
  readonly #excerpts: Excerpts;
  readonly #sought: Sought;

  /** `worths`: of the terms of title and description. */
  constructor(
    excerpts: Excerpts,
    { logLines, title, devices }: Pick<ParsedReport, 'logLines' | 'title' | 'devices'>,
    worths: ReadonlyMap<string, number>,
  ) {
    this.#excerpts = excerpts;
    // A long line is known by its beginning: every string of every file is looked for in it.
    const lines = [...logLines, title].map((line) => line.slice(0, lineCharsMax));
    const messages = new ReportMessages(lines);
    this.#sought = { passages: new PassageFinder(worths), messages, devices };
  }

  read(file: FileRow): Reading {
    const lines = this.#excerpts.lines(file, 1, linesMax) ?? [];
    return new Reading(lines, this.#sought);
  }
}

/** Numbers as tables of devices write them: `0x2526`; with the vendor where the report has it too. */
function devicesIn(lines: readonly string[], devices: ParsedReport['devices']): MatchedDevice[] {
  if (devices.length === 0) return [];
  const found: MatchedDevice[] = [];
  const wanted = devices.map(({ vendor, device, text }) => ({
    ...{ text, device: `0x${device}` },
    vendor: vendor === '' ? '' : `0x${vendor}`,
  }));
  lines.forEach((line, at) => {
    if (!line.includes('0x')) return;
    const lower = line.toLowerCase();
    for (const { vendor, device, text } of wanted)
      // A vendor may be written as a name: a table of devices shows that it is one.
      if (
        lower.includes(device) &&
        (vendor === '' || lower.includes(vendor) || /device|vendor|_id/i.test(line))
      )
        found.push({ text, at: at + 1 });
  });
  return found;
}
