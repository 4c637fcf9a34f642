import { describe, expect, test } from 'vitest';
import type { FactsLanguage } from '../../../../../src/pgc/format/facts.js';
import {
  Items,
  itemsPerRuleMax,
  itemTextCharsMax,
  lineHead,
  oneLine,
} from '../../../../../src/pgc/mine/items/item.js';
import { Draft } from '../../../../../src/pgc/mine/draft.js';
import { withoutCredentials } from '../../../../../src/pgc/mine/items/redaction.js';
import { mined } from '../../../../support/miners/mined.js';

const itemsIn = (text: string): Items =>
  new Items({ language: 'text', text, draft: new Draft(text) }, 5);

describe('what an item keeps', () => {
  test('texts and subjects of one line, within a bound', () => {
    const items = itemsIn('x');
    items.add('command', 0, 1, ` a\n\t${'b'.repeat(500)}`, { subject: ` c\n${'d'.repeat(500)}` });
    expect(items.found).toEqual([
      expect.objectContaining({
        text: `a ${'b'.repeat(itemTextCharsMax - 3)}…`,
        subject: `c ${'d'.repeat(itemTextCharsMax - 3)}…`,
      }),
    ]);
  });

  test('each rule has a bound of its own, and what answers to names a larger one', () => {
    const items = itemsIn('x');
    for (let at = 0; at < itemsPerRuleMax + 10; at += 1) {
      items.add('mention', 0, 1, 'a');
      items.add('option', 0, 1, 'b', { subject: `CONFIG_${at}` });
    }
    items.add('made', 0, 1, 'c');
    const count = (rule: string): number => items.found.filter((each) => each.rule === rule).length;
    expect(['mention', 'option', 'made'].map(count)).toEqual([
      itemsPerRuleMax,
      itemsPerRuleMax + 10,
      1,
    ]);
  });

  test('of a line what stands before an offset, if it begins near enough', () => {
    expect(lineHead('ab\ncd', 5)).toBe('cd');
    expect(lineHead('ab', 1)).toBe('a');
    expect(lineHead('a'.repeat(1_000), 900)).toBe(undefined);
  });
});

const token = `ghp_${'A1b2'.repeat(9)}`;

describe('credentials', () => {
  test('are not repeated', () => {
    const kept = 'wJalrXUtnFEMI7MDENG';
    for (const [line, shown] of [
      [`export AWS_SECRET_ACCESS_KEY=${kept}`, 'export AWS_SECRET_ACCESS_KEY=[redacted]'],
      [
        `curl -H "Authorization: token ${token}" https://a.b`,
        'curl -H "Authorization: token [redacted]" https://a.b',
      ],
      [`curl -H 'Authorization: Bearer ${kept}'`, "curl -H 'Authorization: Bearer [redacted]'"],
      ['DB_PASSWORD=correcthorse ./run', 'DB_PASSWORD=[redacted] ./run'],
      [`ENV API_KEY=${token}`, 'ENV API_KEY=[redacted]'],
      ['asserts password == "hunter2hunter2"', 'asserts password == [redacted]'],
      ["asserts user.token != 'correcthorse'", 'asserts user.token != [redacted]'],
      [`docker login --password ${kept}`, 'docker login --password [redacted]'],
      ['git clone https://me:hunter2@a.b/c', 'git clone https://me:[redacted]@a.b/c'],
    ] as const)
      expect(oneLine(line)).toBe(shown);
  });

  test('words, variables and calls are no credentials', () => {
    for (const line of [
      'export TOKEN=$GITHUB_TOKEN',
      'curl -H "Authorization: Bearer $TOKEN"',
      'docker login --password <password>',
      'asserts key->token == next_token',
      '@token: the token that is given to the next page',
      'password: what the user types',
      'make PWD=/root/linux-6.1',
      'mount https://host:8080/path',
      '#define TOKEN_MAX 12345678',
    ])
      expect(oneLine(line)).toBe(line);
  });

  test('lines of a private key are hidden, together and each alone', () => {
    const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ9xYzK7vTnR4sQe';
    const key = ['-----BEGIN EC PRIVATE KEY-----', body, `${body.slice(2)}==`, 'c2hvcnQ='];
    expect(withoutCredentials(key.join('\n'))).toBe(
      [key[0], '[redacted]', '[redacted]', '[redacted]'].join('\n'),
    );
    for (const line of [body, ` * ${body}`, `  "${body}\\n" +`])
      expect(withoutCredentials(line)).toBe(line.replace(body, '[redacted]'));
    for (const line of ['a'.repeat(64), `${'0123456789abcdef'.repeat(4)}  a.txt`, '='.repeat(70)])
      expect(withoutCredentials(line)).toBe(line);
  });

  test('neither in commands nor in assertions nor in subjects of what is mined', async () => {
    const texts: [FactsLanguage, string][] = [
      [
        'markdown',
        `# Run\n\n    export TOKEN=${token}\n\n    curl -H "Authorization: token ${token}"\n`,
      ],
      ['python', `def f(password):\n    assert password == "${token}"\n`],
      ['text', `    export API_KEY=${token}\n`],
    ];
    for (const [language, text] of texts) {
      const { items } = await mined(language, text);
      expect(items.length).toBeGreaterThan(0);
      expect(JSON.stringify(items)).not.toContain(token);
    }
  });
});
