import { linesOf } from './document.js';
import { Draft, type SymbolDraft } from './draft.js';
import { sentences } from './comment.js';
import { mineManifest } from './manifests.js';
import { renderSignature } from './signature.js';

/**
 * Files that say how to build, configure and run: their entries are symbols, so that they are found by
 * name as functions are. Kinds: option · target · script · step · unit.
 */

/** Entries of `Kconfig`: `config FOO` is `CONFIG_FOO`, with its prompt, type, what it depends on and its help. */
export function mineKconfig(text: string): Draft {
  const draft = new Draft(text);
  const entries: { name: string; start: number; end: number; lines: string[] }[] = [];
  let open: (typeof entries)[number] | undefined;
  for (const { line, start, end } of linesOf(text)) {
    const head = /^\s*(?:menu)?config\s+(\w+)\s*$/.exec(line);
    if (head !== null) {
      open = { name: head[1] ?? '', start, end, lines: [] };
      entries.push(open);
    } else if (/^(?:source|menu|endmenu|choice|endchoice|if|endif|comment|mainmenu)\b/.test(line)) {
      const source = /^source\s+"([^"]+)"/.exec(line)?.[1];
      if (source !== undefined) draft.imports.push({ target: source, names: [], at: start });
      open = undefined;
    } else if (open !== undefined) {
      open.lines.push(line);
      if (line.trim() !== '') open.end = end;
    }
  }
  for (const { name, start, end, lines } of entries) {
    const helpAt = lines.findIndex((line) => /^\s*(?:help|---help---)\s*$/.test(line));
    const settings = helpAt < 0 ? lines : lines.slice(0, helpAt);
    const help = helpAt < 0 ? '' : lines.slice(helpAt + 1).join(' ');
    const find = (pattern: RegExp): string | undefined =>
      settings.map((line) => pattern.exec(line)?.[1]).find((each) => each !== undefined);
    const prompt = find(/^\s*(?:bool|tristate|int|hex|string|prompt)\s+"((?:[^"\\]|\\.)*)"/);
    const depends = settings.flatMap((line) => /^\s*depends on\s+(.+)$/.exec(line)?.[1] ?? []);
    const selects = settings.flatMap((line) => /^\s*select\s+(\w+)/.exec(line)?.[1] ?? []);
    const signature = renderSignature('option', `CONFIG_${name}`, {
      type: find(/^\s*(?:def_)?(bool|tristate|int|hex|string)\b/),
      prompt,
      depends: depends.join(' && '),
      selects: selects.join(' '),
    });
    const doc = sentences(help.trim() === '' ? (prompt ?? '') : help);
    draft.symbols.push(entry(`CONFIG_${name}`, 'option', start, end, signature, doc, true));
  }
  return draft;
}

/** Targets of make, and in kernels what an option builds: `obj-$(CONFIG_X) += x.o`. */
export function mineMake(text: string): Draft {
  const draft = new Draft(text);
  for (const { line, start, end } of logicalLines(text)) {
    const rule = /^([\w./%-][\w./% $(){}-]*?)\s*::?(?!=)\s*([^=]*)$/.exec(line);
    const object = /^\s*([\w-]+)-\$\((CONFIG_\w+)\)\s*[+:]?=\s*(.+)$/.exec(line);
    const include = /^-?include\s+(\S+)/.exec(line)?.[1];
    if (include !== undefined) draft.imports.push({ target: include, names: [], at: start });
    else if (object !== null) {
      const [, list = '', option = '', parts = ''] = object;
      const signature = renderSignature('step', option, { builds: parts.trim(), into: list });
      draft.symbols.push(entry(option, 'step', start, end, signature, '', false));
    } else if (
      rule !== null &&
      !/^(?:ifdef|ifeq|ifneq|ifndef|else|endif|define|export)\b/.test(line)
    ) {
      const [, names = '', needs = ''] = rule;
      for (const name of names.trim().split(/\s+/)) {
        if (name.startsWith('.') || name.includes('$')) continue;
        const signature = renderSignature('target', name, { needs: needs.trim() });
        draft.symbols.push(entry(name, 'target', start, end, signature, '', false));
      }
    }
  }
  return draft;
}

/** Sections of `MAINTAINERS`: who looks after which files. */
export function mineMaintainers(text: string): Draft {
  const draft = new Draft(text);
  let title: { name: string; start: number } | undefined;
  let fields: string[] = [];
  let last = 0;
  const close = (): void => {
    if (title !== undefined && fields.length > 0) {
      const of = (letter: string): string =>
        fields
          .flatMap((each) => (each.startsWith(`${letter}:`) ? [each.slice(2).trim()] : []))
          .join(' ');
      const signature = renderSignature('section', title.name, { status: of('S'), files: of('F') });
      const people = fields
        .filter((each) => /^[MR]:/.test(each))
        .map((each) => each.slice(2).replace(/<.*/, '').trim());
      const doc = `${title.name}: ${of('S').toLowerCase() || 'no status'}, looked after by ${people.join(', ') || 'nobody'}.`;
      draft.symbols.push(
        entry(title.name, 'section', title.start, last, signature, sentences(doc), false),
      );
    }
    title = undefined;
    fields = [];
  };
  for (const { line, start, end } of linesOf(text)) {
    if (/^[A-Z]:\s/.test(line) && title !== undefined) {
      fields.push(line);
      last = end;
    } else if (line.trim() === '') close();
    else if (/^\S/.test(line)) {
      close();
      title = { name: line.trim().slice(0, 120), start };
    }
  }
  close();
  return draft;
}

/** Keys of YAML, TOML, INI and JSON that run something, units of systemd, instructions of containers. */
export function mineSettings(text: string): Draft {
  const draft = new Draft(text);
  // Of a Go module; no other format has such a line.
  const module = /^module[ \t]{1,50}"?([^\s"/][^\s"]*)"?[ \t]*(?:\/\/.*)?$/m.exec(text)?.[1];
  const crate =
    /^\[package\]\s{0,20}\n(?:[^[\n]*\n){0,40}?name[ \t]{0,20}=[ \t]{0,20}"([\w-]{1,80})"/m.exec(
      text,
    )?.[1];
  const named = module ?? crate;
  if (named !== undefined) draft.type(undefined, 'package', named);
  mineManifest(draft);
  let section = '';
  let inScripts = false;
  for (const { line, start, end } of linesOf(text)) {
    const head = /^\s*\[+([^[\]]+)\]+\s*$/.exec(line)?.[1];
    if (head !== undefined) section = head.trim();
    if (/^\s*"scripts"\s*:\s*\{/.test(line)) inScripts = true;
    else if (inScripts && /^\s*\}/.test(line)) inScripts = false;
    const script = inScripts ? /^\s*"([\w:.-]+)"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(line) : null;
    const run = /^\s*-?\s*(run|script|command|entrypoint|image)\s*:\s*(\S.*)$/.exec(line);
    const unit = /^(Exec\w+|WatchdogSec|Restart|User|Type|Environment\w*)\s*=\s*(.+)$/.exec(line);
    const docker =
      /^(FROM|RUN|CMD|ENTRYPOINT|EXPOSE|COPY|ENV|VOLUME|HEALTHCHECK|USER)\s+(.+)$/.exec(line);
    const [, name = '', value = ''] = script ?? run ?? unit ?? docker ?? [];
    if (name === '') continue;
    const kind = script !== null ? 'script' : unit !== null ? 'unit' : 'step';
    const signature = renderSignature(kind, name, { runs: value });
    const symbol = entry(name, kind, start, end, signature, '', false);
    symbol.container = section;
    draft.symbols.push(symbol);
  }
  return draft;
}

const shellHead = /^[ \t]*(?:function[ \t]{1,50})?([A-Za-z_][\w-]*)[ \t]{0,50}\(\)\s{0,50}\{/gm;
const shellEnd = /^[ \t]*\}/gm;

/** Functions of a shell script, up to the first line that begins with a closing bracket. */
export function mineShell(text: string): Draft {
  const draft = new Draft(text);
  shellHead.lastIndex = 0;
  for (let head = shellHead.exec(text); head !== null; head = shellHead.exec(text)) {
    shellEnd.lastIndex = shellHead.lastIndex;
    // Where one has no end, none behind it has.
    if (!shellEnd.test(text)) break;
    const end = shellEnd.lastIndex;
    const name = head[1] ?? '';
    const at = head.index + head[0].length - head[0].trimStart().length;
    const signature = renderSignature('function', name, {});
    draft.symbols.push(entry(name, 'function', at, end, signature, '', false));
    shellHead.lastIndex = end;
  }
  return draft;
}

function entry(
  name: string,
  kind: string,
  start: number,
  end: number,
  signature: string,
  doc: string,
  exported: boolean,
): SymbolDraft {
  return {
    ...{ name, kind, start, end: Math.max(end, start + 1), wordsStart: start, signature },
    ...{ container: '', exported, doc, declaration: false },
  };
}

/** Lines that end in `\` go on in the next. */
function* logicalLines(text: string): Generator<{ line: string; start: number; end: number }> {
  let held: { line: string; start: number } | undefined;
  for (const { line, start, end } of linesOf(text)) {
    const whole = held === undefined ? line : `${held.line} ${line.trim()}`;
    const from = held?.start ?? start;
    if (line.endsWith('\\')) held = { line: whole.slice(0, -1).trimEnd(), start: from };
    else {
      held = undefined;
      // A line that begins with a tab is shell.
      if (!whole.startsWith('\t')) yield { line: whole.replace(/\s+#.*$/, ''), start: from, end };
    }
  }
}
