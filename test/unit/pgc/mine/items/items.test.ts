import { describe, expect, test } from 'vitest';
import type { FactsLanguage, ItemFact } from '../../../../../src/pgc/format/facts.js';
import { mined } from '../../../../support/miners/mined.js';

const found = async (
  overlay: number,
  language: FactsLanguage,
  source: string,
  show: (item: ItemFact) => unknown = ({ rule, line_start, text }) => [rule, line_start, text],
) => (await mined(language, source)).items.filter((item) => item.overlay === overlay).map(show);

const byRule = ({ rule, line_start, severity, cwe }: ItemFact) => [rule, line_start, severity, cwe];

describe('O2', () => {
  test('of C: unsafe calls with what stands in their brackets, and where data comes in', async () => {
    const source = `SYSCALL_DEFINE2(open, const char *, name, int, flags)
{
	char b[8];
	strcpy(b, name); /* strcat in a comment */
	printk(name);
	printk("strcpy(%s)", name);
	p = kmalloc(n * sizeof(*p), GFP_KERNEL);
	q = kmalloc(sizeof(*q), GFP_KERNEL);
	if (!capable(CAP_SYS_ADMIN) || copy_from_user(b, name, 8))
		return -EPERM;
}
static const struct file_operations fops = { .unlocked_ioctl = my_ioctl };
module_param(debug, int, 0644);
`;
    expect(await found(2, 'c', source, byRule)).toEqual([
      ['unbounded-copy', 4, 'high', 'CWE-120'],
      ['format-string', 5, 'high', 'CWE-134'],
      ['size-product', 7, 'medium', 'CWE-190'],
      ['privilege-check', 9, 'info', 'CWE-862'],
      ['user-memory-read', 9, 'medium', 'CWE-20'],
      ['surface-syscall', 1, 'info', ''],
      ['surface-parameter', 13, 'info', ''],
      ['surface-ioctl', 12, 'info', ''],
    ]);
  });

  test('of scripts: shells, evaluation, composed queries, routes', async () => {
    const es = `import cp, { exec } from 'node:child_process';
exec(\`ls \${name}\`);
cp.execSync('x');
regex.exec(text);
spawn('ls', ['-l'], { shell: true });
spawn('ls', ['-l']);
db.query('SELECT * FROM t WHERE id = ' + id);
db.query('SELECT * FROM t WHERE id = $1', [id]);
app.get('/users/:id', show);
const h = createHash('md5');
`;
    expect(await found(2, 'typescript', es, byRule)).toEqual([
      ['shell-command', 2, 'high', 'CWE-78'],
      ['shell-command', 3, 'high', 'CWE-78'],
      ['shell-option', 5, 'high', 'CWE-78'],
      ['sql-composed', 7, 'high', 'CWE-89'],
      ['weak-hash', 10, 'medium', 'CWE-328'],
      ['surface-http', 9, 'info', ''],
    ]);
    const py = `import yaml, pickle, subprocess
yaml.load(text)
yaml.load(text, Loader=yaml.SafeLoader)
pickle.loads(data)
subprocess.run(cmd, shell=True)
subprocess.run(['ls'])
ast.literal_eval(x)
eval(x)
`;
    expect(await found(2, 'python', py, byRule)).toEqual([
      ['unsafe-deserialisation', 2, 'high', 'CWE-502'],
      ['unsafe-deserialisation', 4, 'high', 'CWE-502'],
      ['shell-option', 5, 'high', 'CWE-78'],
      ['code-evaluation', 8, 'high', 'CWE-95'],
    ]);
  });

  test('a secret is told, and never repeated', async () => {
    const value = 'hunter2Hunter2hunter2';
    const key = ['AKIA', 'A2C4E6G7J3K5M2P4'].join('');
    const source = `const dbPassword = '${value}';\nconst apiKey = process.env.API_KEY;\nconst token = '${key}';\n`;
    const items = await found(2, 'javascript', source, ({ rule, line_start, text, subject }) => [
      rule,
      line_start,
      text,
      subject,
    ]);
    expect(items).toEqual([
      ['secret', 1, 'dbPassword is given a value in the source', 'dbPassword'],
      ['secret', 3, 'a secret: aws access token', ''],
    ]);
    expect(JSON.stringify((await mined('javascript', source)).items)).not.toContain(value);
  });
});

describe('O6', () => {
  test('assertions, locking rules, bounds and what comments state', async () => {
    const source = `#define QUEUE_MAX 64
/*
 * Must be called with the queue lock held. Runs in O(log n).
 */
static void work(struct q *q) __must_hold(&q->lock)
{
	lockdep_assert_held(&q->lock);
	BUG_ON(q->n > QUEUE_MAX);
	BUILD_BUG_ON(sizeof(*q) != 8);
	/* This cannot overflow, it is bounded above. */
}
`;
    expect(await found(6, 'c', source)).toEqual([
      ['locking-check', 7, 'lockdep_assert_held(&q->lock)'],
      ['assertion', 8, 'stops the machine when q->n > QUEUE_MAX'],
      ['assertion', 9, 'does not compile when sizeof(*q) != 8'],
      ['lock-annotation', 5, '__must_hold(&q->lock)'],
      ['bound', 1, '#define QUEUE_MAX 64'],
      ['locking-rule', 3, 'Must be called with the queue lock held.'],
      ['complexity', 3, 'Runs in O(log n).'],
      ['overflow-note', 10, 'This cannot overflow, it is bounded above.'],
    ]);
  });

  test('assert statements of Python, theorems of documents', async () => {
    expect(await found(6, 'python', 'def f(x):\n    assert x > 0, "positive"\n')).toEqual([
      ['assertion', 2, 'asserts x > 0, "positive"'],
    ]);
    expect(await found(6, 'markdown', '# Proofs\n\nTheorem 1: Every lane is in order.\n')).toEqual([
      ['theorem', 3, 'Theorem 1: Every lane is in order.'],
    ]);
  });
});

describe('O4', () => {
  test('overviews of modules and sections of documents; neither licences nor comments of a symbol', async () => {
    const source = `// SPDX-License-Identifier: GPL-2.0
/*
 * zsmalloc memory allocator
 *
 * Copyright (C) 2011 Nobody
 *
 * This allocator is designed for use with zram and pages of odd sizes.
 */

/**
 * DOC: Usage of pages
 *
 * How pages are used.
 */

/* Makes one thing out of two other things. */
int make(void) { return 0; }
`;
    expect(await found(4, 'c', source)).toEqual([
      [
        'overview',
        1,
        'zsmalloc memory allocator This allocator is designed for use with zram and pages of odd sizes.',
      ],
      ['overview', 10, 'Usage of pages: How pages are used.'],
    ]);
    const long = `/**\n * DOC: Long\n *\n * It is long.\n${' *\n'.repeat(5_000)} */\n/**\n * DOC: Next\n *\n * It is next.\n */\n`;
    expect(
      await found(4, 'c', long, ({ text, line_start, line_end }) => [text, line_start, line_end]),
    ).toEqual([
      ['Long: It is long.', 1, 5_005],
      ['Next: It is next.', 5_006, 5_010],
    ]);
    expect(
      await found(4, 'c', '/* Makes one thing out of two other things. */\nint f(void);\n'),
    ).toEqual([]);
    expect(
      await found(4, 'markdown', '# X\n\nIt is a bus.\n\n## Why not Kafka\n\nToo large.\n'),
    ).toEqual([
      ['section', 1, 'X: It is a bus.'],
      ['decision', 5, 'X › Why not Kafka: Too large.'],
    ]);
  });
});

describe('O5', () => {
  test('options, commands, procedures and what a program is configured by', async () => {
    expect(await found(5, 'kconfig', 'config ZRAM\n\tbool "Compressed"\n')).toEqual([
      ['option', 1, 'CONFIG_ZRAM: Compressed'],
    ]);
    const guide =
      '# Set up\n\n1. Get it.\n2. Run it:\n\n   ```sh\n   $ make install\n   ```\n3. Enjoy.\n';
    expect(await found(5, 'markdown', guide)).toEqual([
      ['command', 7, 'make install'],
      ['procedure', 3, '1. Get it. 2. Run it: 3. Enjoy.'],
    ]);
    expect(await found(5, 'typescript', 'run(process.env.SIGMA_HOME);\n')).toEqual([
      ['environment', 1, 'environment variable SIGMA_HOME'],
    ]);
    expect(await found(5, 'c', '__setup("quiet=", quiet_setup);\n')).toEqual([
      ['boot-parameter', 1, 'boot parameter quiet='],
    ]);
  });
});

describe('O7', () => {
  test('documented parameters that the signature lacks', async () => {
    const source = `/**
 * take - takes a page
 * @page: the page
 * @order: how many
 * @cb: called then
 * @last: of all
 *
 * Return: nothing.
 */
void take(struct page *page, void (*cb)(int), int last);
`;
    expect(await found(7, 'c', source)).toEqual([
      ['parameter', 4, 'take documents the parameter order, which it does not have'],
    ]);
    const es =
      '/**\n * @param {string} name who\n * @param [age] years\n */\nfunction f(name) {}\n';
    expect(await found(7, 'javascript', es)).toEqual([
      ['parameter', 3, 'f documents the parameter age, which it does not have'],
    ]);
    const py =
      'def f(a, *rest, b=1):\n    """X.\n\n    :param a: x\n    :param rest: y\n    :param c: z\n    """\n';
    expect(await found(7, 'python', py)).toEqual([
      ['parameter', 6, 'f documents the parameter c, which it does not have'],
    ]);
  });

  test('of operators, of functions inside others, and of what is taken apart', async () => {
    const cpp =
      '/**\n * operator++ - adds\n * @gone: x\n */\nA& operator++(A& a);\n/**\n * take - takes\n * @gone: x\n */\nint take(int a);\n';
    expect(await found(7, 'cpp', cpp)).toEqual([
      ['parameter', 8, 'take documents the parameter gone, which it does not have'],
    ]);
    const es =
      '/**\n * @param options what to do\n * @param {number} options.a x\n */\nfunction f({ a, b }) {}\n';
    expect(await found(7, 'javascript', es)).toEqual([]);
    const py = `def outer(a, sep=':', pair=(1, 2)):  # it's "odd"
    """X.

    :param b: y
    """
    def inner(c):
        """Y.

        :param c: z
        :param d: z
        """
def plain(a):
    def inner(b):
        """Z.

        :param b: z
        """
`;
    expect(await found(7, 'python', py)).toEqual([
      ['parameter', 4, 'outer documents the parameter b, which it does not have'],
      ['parameter', 10, 'inner documents the parameter d, which it does not have'],
    ]);
  });
});
