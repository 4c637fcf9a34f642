/** Characters of a line that are read: its beginning tells its kind. */
export const lineCharsMax = 2_000;

/** `noise`: registers, dumps, lists of modules, whose words are not looked up. */
type LineKind = 'prose' | 'log' | 'noise';

export interface ReportLine {
  kind: LineKind;
  /** Without time stamps, hosts and levels. */
  text: string;
  /** What speaks in a log line: `iwlwifi` of `iwlwifi 0000:00:14.3: …`; else empty. */
  driver: string;
}

/** `[   26.235209] `, `<4>[…]`, `Nov 21 12:00:00 host kernel: `, `2026-11-21T12:00:00Z host app[1]: `; any of them in a row. */
const stamps =
  /^(?:[>|]{0,3} {0,4})(?:(?:<\d{1,3}>)?\[ {0,8}(?:\d{1,9}\.\d{3,6}|[A-Z][a-z]{2} [A-Z][a-z]{2} [\d :]{1,24})\](?:\[ {0,6}[TC]\d{1,8}\])? {0,2}|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d{1,6})? (?:[\w.-]{1,64} )?|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,]{0,10}(?:Z|[+-]\d\d:?\d\d)?,? (?:[\w.-]{1,64} (?=kernel|[\w.-]{1,64}\[))?|\d\d:\d\d:\d\d[\d.,]{0,8} (?:[\w.-]{1,64} (?=kernel:))?|<\d{1,3}>)/;
const speaker = /^(?:kernel|[\w.-]{1,64}\[\d{1,9}\]): {0,4}/;
const level = /^(?:\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?:? )/;
const stampsMax = 4;

/** `driver address: …`, of PCI, USB, ACPI and their like, or `driver device0: …`. */
const driverOfDevice =
  /^([a-z][\w-]{1,40}) (?:[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]|\d{1,3}-[\d.]{1,12}(?::\d{1,3}\.\d{1,3})?|[A-Z][A-Z0-9]{2,7}:[0-9A-F]{2}|[a-z]{2,12}[-:]?\d{1,4}|[\w.:-]{1,24}\.\d{1,3}(?:\.\w{1,12})?): /;
const driverAlone = /^([a-z][\w-]{2,40})(?: \([\w.]{1,24}\))?: /;
/** How messages of a fault begin, also without time stamps. */
const faults =
  /^(?:BUG\b|WARNING: |INFO: |Oops|kernel BUG at |general protection fault|Unable to handle|Internal error|watchdog: |Kernel panic|divide error|invalid opcode|stack segment|double fault|\*ERROR\*)/;
/** `source of a message: what it says`, in a line that is short and has a digit or a sign where it begins. */
const message = /^[\w./-]{2,20}(?: [\w.:-]{1,20}){0,2} ?: \S/;
const messageCharsMax = 160;
/** Settings, tables, what `lspci` and `lsusb` print. */
const setting =
  /^(?:[\w ()./+-]{1,40}[ \t]{0,8}[:=][ \t]?\S.{0,70}|[\w ]{2,30}\t{0,8}:[ \t]*|[0-9a-f]{2,4}:[0-9a-f]{2}[.:].{5,200}|Bus \d{1,4} Device.{5,200})$/i;
/** So many settings one after the other are a listing. */
const listingLinesMin = 4;

const noise: readonly RegExp[] = [
  // Registers with their values.
  /^\s{0,8}(?:[RE]?(?:[ABCD]X|SI|DI|BP|SP|FLAGS)|[re](?:[abcd]x|si|di|bp|sp)|[Rr]\d{1,2}|[CD]R\d|x\d{1,2}|[CDEFGScdefgs][Ss]|sp|fp|ip|pstate|psr|PKRU|ORIG_RAX|CFAR|DAR|DSISR|IRQMASK|GPR\d{0,2}|XER|LR|CTR|C?P?[SM]?SR|CR|epc|ra|gp|tp|[abfst]\d{1,2}|v\d) {0,2}[:=] {0,2}[0-9a-fA-F(]{4,18}[\w)]{0,12}(?:[ \t,;:]|$)/,
  /^\s{0,8}(?:Modules linked in|\[last unloaded:|Code:|Call Trace|Backtrace|Stack:|Process \S{1,40} \(|Pid:|Workqueue: |Hardware name|Tainted: |CPU: ?\d|PID: |Comm: |---\[ ?end|-{1,80}\[ ?cut|={8,}|last sysfs file|printing eip|\*pd|PGD |<\/?(?:TASK|IRQ|NMI|SOFTIRQ|EOE|EOI)>)/i,
  /^\s{0,8}(?:Created (?:an )?attachment|\[PATCH\]|Signed-off-by|Acked-by|Reviewed-by|Tested-by|Reported-by|Cc:|Link:|flags\s{0,8}:|bogomips)/i,
];
/** What follows `Modules linked in:` over several lines. */
const moduleNames = /^\s{0,8}(?:[a-z0-9][\w-]{1,40}(?:\([A-Z+-]{1,5}\))?(?:\s{1,4}|$)){3,}/;
const hexWord = /^\(?\[?<?(?:0x)?[0-9a-f]{2,16}>?\]?\)?[,:;]?$/i;
const hexWordsMin = 3;
/** Labels of the forms of bug trackers. */
const labels =
  /\b(?:Distribution|Hardware Environment|Software Environment|Problem Description|Steps to reproduce|Expected results?|Actual results?|Additional info(?:rmation)?) {0,4}:/gi;

/**
 * Tells the lines of a report apart, one after the other: what one of them begins, the next may continue.
 * Lines come out in their order; settings wait until it is clear whether they are a listing.
 */
export class LineReader {
  #inModules = false;
  #settings: ReportLine[] = [];

  /** `text`: without its stamps. */
  read({ text: head, isStamped }: PlainLine): ReportLine[] {
    const text = head.replace(labels, ' ').trim();
    const found = this.#lineOf(head.slice(0, lineCharsMax), text, isStamped);
    if (found === undefined) {
      this.#settings.push({ kind: 'prose', text, driver: '' });
      return [];
    }
    return [...this.finish(), found];
  }

  /** What still waits. */
  finish(): ReportLine[] {
    const settings = this.#settings;
    this.#settings = [];
    return settings.length < listingLinesMin
      ? settings
      : settings.map((each) => ({ ...each, kind: 'log' }));
  }

  /** Undefined for a setting. */
  #lineOf(head: string, text: string, isStamped: boolean): ReportLine | undefined {
    if (this.#isModules(head) || isNoise(head)) return { kind: 'noise', text: head, driver: '' };
    const driver =
      driverOfDevice.exec(text.slice(0, 200))?.[1] ??
      (isStamped ? (driverAlone.exec(text.slice(0, 200))?.[1] ?? '') : '');
    if (isStamped || driver !== '' || faults.test(text) || isMessage(text))
      return { kind: 'log', text, driver };
    return setting.test(text) ? undefined : { kind: 'prose', text, driver: '' };
  }

  #isModules(text: string): boolean {
    const begins = /^\s{0,8}Modules linked in:/.test(text);
    this.#inModules =
      begins || (this.#inModules && moduleNames.test(text) && !/[.,:]\s/.test(text));
    return this.#inModules;
  }
}

function isMessage(text: string): boolean {
  return (
    text.length < messageCharsMax && message.test(text) && /[\d:(){}=]/.test(text.slice(0, 40))
  );
}

function isNoise(text: string): boolean {
  return noise.some((pattern) => pattern.test(text)) || isDump(text);
}

/** Most of its words are hexadecimal numbers. */
function isDump(text: string): boolean {
  const words = text.trim().split(/\s+/);
  if (words.length < hexWordsMin) return false;
  return words.filter((word) => /\d/.test(word) && hexWord.test(word)).length * 2 > words.length;
}

/** A line of which stamps, hosts and levels are taken off. */
interface PlainLine {
  text: string;
  isStamped: boolean;
}

export function plainLine(line: string): PlainLine {
  let text = line.slice(0, lineCharsMax);
  for (let times = 0; times < stampsMax; times += 1) {
    const found = stamps.exec(text)?.[0] ?? '';
    if (found.trim() === '') break;
    text = text.slice(found.length);
  }
  text = text.replace(speaker, '').replace(level, '');
  const isStamped = text.length < Math.min(line.length, lineCharsMax);
  return { text: text + line.slice(lineCharsMax), isStamped };
}
