import { describe, expect, test } from 'vitest';
import { HistoryBuilder, type HistoryCut } from '../../../../src/pgc/source/git/history.js';
import { changeOf, lineageItems } from '../../../../src/pgc/overlay/history-items.js';
import {
  dayOf,
  printableLine,
  cleanAuthor,
  cleanSubject,
} from '../../../../src/pgc/source/git/commit-text.js';

const noon = Date.UTC(2026, 10, 1, 12) / 1_000;
const daySeconds = 86_400;

/** Twelve commits of three authors, seven of them with the same companion; newest first. */
function twelve(why?: HistoryCut) {
  const builder = new HistoryBuilder(['net/a.c', 'net/core/dev.c']);
  for (let at = 0; at < 12; at += 1) {
    const author = ['Ann', 'Ben', 'Cem'][at % 3] ?? '';
    builder.commit({
      ...{ commit: 'f'.repeat(40), seconds: noon - at * daySeconds },
      ...{ author, subject: `net: change ${at}` },
    });
    builder.touch('net/a.c');
    if (at < 7) builder.touch('net/core/dev.c');
  }
  return builder.finish('f'.repeat(40), why);
}

describe('lineage items', () => {
  test('say how a file came to be and what changes with it', () => {
    const rest = { overlay: 3, line_start: 1, line_end: 1, severity: '', cwe: '' };
    expect(lineageItems(twelve(), 'net/a.c')).toEqual([
      {
        ...{ ...rest, rule: 'history', subject: 'Ann' },
        text: '12 commits by 3 authors since 2026-10-21, last 2026-11-01 by Ann: net: change 0',
      },
      ...['Ann', 'Ben', 'Cem'].map((subject) => ({
        ...{ ...rest, rule: 'author', subject },
        text: `4 of 12 commits by ${subject}`,
      })),
      {
        ...{ ...rest, rule: 'co-change', subject: 'net/core/dev.c' },
        text: 'changes together with net/core/dev.c (7 of 12 commits)',
      },
    ]);
  });

  test('do not claim more than a history that was cut short knows', () => {
    expect(lineageItems(twelve('shallow'), 'net/a.c')[0]?.text).toBe(
      'at least 12 commits by 3 authors since 2026-10-21 or before, last 2026-11-01 by Ann: net: change 0',
    );
  });

  test('tell the day of the last change', () => {
    const [first] = lineageItems(twelve('shallow'), 'net/a.c');
    expect(changeOf(first?.text ?? '')).toBe('2026-11-01');
    expect(changeOf('4 of 12 commits by Ann')).toBeUndefined();
  });

  test('are none for a file without history', () => {
    expect(lineageItems(twelve(), 'net/new.c')).toEqual([]);
  });

  test('count in good English', () => {
    const builder = new HistoryBuilder(['a.c']);
    builder.commit({ commit: 'f'.repeat(40), seconds: noon, author: 'Ann', subject: 'first' });
    builder.touch('a.c');
    expect(lineageItems(builder.finish('', undefined), 'a.c')[0]?.text).toBe(
      '1 commit by 1 author since 2026-11-01, last 2026-11-01 by Ann: first',
    );
  });
});

describe('the text of other people', () => {
  test('is one line without anything that a terminal obeys', () => {
    expect(printableLine(' a\tb\r\n\u001b[31mc\u0000\u202ed\u2028e\u009bf ')).toBe(
      'a b [31mc d e f',
    );
    expect(printableLine('Łukasz Ünal 李')).toBe('Łukasz Ünal 李');
  });

  test('has at most 120 characters and no half ones', () => {
    expect(printableLine('x'.repeat(120))).toBe('x'.repeat(120));
    expect(printableLine('x'.repeat(121))).toBe(`${'x'.repeat(119)}…`);
    expect(printableLine(`${'x'.repeat(118)}${'😀'.repeat(9)}`)).toBe(`${'x'.repeat(118)}…`);
    expect(printableLine(`a${' '.repeat(1_000_000)}b`)).toBe('a…');
  });

  test('never shows an address as a name', () => {
    expect(cleanAuthor('Ann <ann@example.org>')).toBe('Ann');
    expect(cleanAuthor('ann@example.org')).toBe('ann');
    expect(cleanAuthor('')).toBe('unknown');
    expect(cleanAuthor('<ann@example.org>')).toBe('unknown');
  });

  test('shows no credential', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    expect(cleanSubject(`ci: use ${token} again`)).toBe('ci: use [redacted] again');
    expect(cleanSubject('set password=hunter2-hunter2 for all')).toBe(
      'set password=[redacted] for all',
    );
    expect(cleanSubject('parser: token: 3 cases')).toBe('parser: token: 3 cases');
  });

  test('dates are days, also where a clock was wrong', () => {
    expect(dayOf(noon)).toBe('2026-11-01');
    expect(dayOf(0)).toBe('1970-01-01');
    for (const wrong of [1e12, 1e300, Number.NaN, -1e13])
      expect(dayOf(wrong)).toBe('an unknown day');
  });
});
