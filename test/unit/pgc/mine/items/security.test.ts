import { describe, expect, test } from 'vitest';
import type { FactsLanguage, ItemFact } from '../../../../../src/pgc/format/facts.js';
import { mined } from '../../../../support/miners/mined.js';

const found = async (language: FactsLanguage, source: string): Promise<unknown[]> =>
  (await mined(language, source)).items
    .filter(({ overlay }) => overlay === 2)
    .map(({ rule, line_start, severity }: ItemFact) => [rule, line_start, severity]);

const inFunction = (...lines: string[]): string => `void f(void)\n{\n${lines.join('\n')}\n}\n`;

describe('how grave a call is follows from its arguments', () => {
  test('a copy of a constant is a small thing, of anything else it is not', async () => {
    const source = inFunction(
      '\tstrcpy(to, "OK");',
      '\tstrcat(to, "a), b" "\\"c");',
      '\tstrcpy(root->signature, ROOT_SIGNATURE);',
      '\tstrcpy(to, from);',
      '\tstrcpy(f(to, 1), CAPITALS->from);',
      '\tgets(to);',
    );
    expect(await found('c', source)).toEqual([
      ['unbounded-copy', 3, 'low'],
      ['unbounded-copy', 4, 'low'],
      ['unbounded-copy', 5, 'low'],
      ['unbounded-copy', 6, 'high'],
      ['unbounded-copy', 7, 'high'],
      ['unbounded-copy', 8, 'high'],
    ]);
  });

  test('a format that bounds what it prints, and one that does not', async () => {
    const source = inFunction(
      '\tsprintf(to, "%d of %08lx\\n", a, b);',
      '\tsprintf(to, "%.16s and %*d", name, 4, a);',
      '\tsprintf(to, "<%-16s>", name);',
      '\tsprintf(to + sprintf(to, "%u", a), "%pV", &vaf);',
      '\tsprintf(to, FORMAT, a);',
      '\tvsprintf(to, format, list);',
    );
    expect(await found('c', source)).toEqual([
      ['unbounded-format', 3, 'low'],
      ['unbounded-format', 4, 'low'],
      ['unbounded-format', 5, 'medium'],
      ['unbounded-format', 6, 'medium'],
      ['unbounded-format', 6, 'low'],
      ['unbounded-format', 7, 'medium'],
      ['unbounded-format', 8, 'medium'],
    ]);
  });

  test('strncpy may leave the end out; strlcpy reads on, if there is anything to read on in', async () => {
    const source = inFunction(
      '\tstrncpy(to, from, sizeof(to));',
      '\tstrlcpy(to, from, sizeof(to));',
      '\tstrlcpy(to, "none", sizeof(to));',
      '\tstrlcpy(to, DRIVER_NAME, sizeof(to));',
    );
    expect(await found('c', source)).toEqual([
      ['unterminated-copy', 3, 'low'],
      ['source-overread', 4, 'low'],
    ]);
  });

  test('products of sizes, and what only looks like one', async () => {
    const source = inFunction(
      '\ta = kmalloc(n * sizeof(*a), GFP_KERNEL);',
      '\ta = kzalloc(dev->count * sizeof(struct a *), GFP_KERNEL);',
      '\ta = kzalloc((sizeof(*a) * dev->count), GFP_KERNEL);',
      '\ta = vzalloc((size_of(dev) >> PAGE_SHIFT) * sizeof(u64));',
      '\ta = kmalloc(n * size, GFP_KERNEL);',
      '\ta = kzalloc(sizeof *a, GFP_KERNEL);',
      '\ta = kmalloc(N_REGS * 2 * sizeof(u32), GFP_KERNEL);',
      '\ta = kmalloc(sizeof(*a) * N_REGS, GFP_KERNEL);',
    );
    expect(await found('c', source)).toEqual([
      ['size-product', 3, 'medium'],
      ['size-product', 4, 'medium'],
      ['size-product', 5, 'medium'],
      ['size-product', 6, 'medium'],
      ['size-product', 7, 'medium'],
    ]);
  });

  test('a format from a variable, but not one that the text itself fixes, nor the arguments of a macro', async () => {
    const source = `#define DBG(args...) \\
	do { if (debug) printk(args); } while (0)
static const char version[] __initconst = KERN_INFO "driver 1.0";
static char *help =
	"nothing";
${inFunction('\tprintk(version);', '\tprintf(help);', '\tprintk(buf);', '\tprintk(f->text);')}`;
    expect(await found('c', source)).toEqual([
      ['format-string', 10, 'high'],
      ['format-string', 11, 'high'],
    ]);
  });

  test('a command line that is always the same, and one that is not', async () => {
    const source = inFunction(
      '\tsystem("ip link del bond");',
      '\tpopen("find " "/lib", "r");',
      '\tsystem(line);',
      '\tcall_usermodehelper(argv[0], argv, envp, UMH_WAIT_EXEC);',
    );
    expect(await found('c', source)).toEqual([
      ['shell-command', 3, 'low'],
      ['shell-command', 4, 'low'],
      ['shell-command', 5, 'high'],
      ['program-start', 6, 'medium'],
    ]);
  });

  test('a mode that everybody may write by, which the umask does not hold back', async () => {
    const source = inFunction(
      '\tchmod(path, 0777);',
      '\tumask(0);',
      '\tmkdir(path, 0777);',
      '\tumask(S_IWGRP | S_IWOTH);',
      '\tchmod(path, 0644);',
    );
    expect(await found('c', source)).toEqual([
      ['open-mode', 3, 'medium'],
      ['open-mode', 4, 'medium'],
    ]);
  });
});

describe('where the kernel is open', () => {
  const surfaces = async (source: string): Promise<unknown[]> =>
    (await mined('c', source)).items
      .filter(({ rule }) => rule.startsWith('surface-'))
      .map(({ rule, line_start, text }) => [rule, line_start, text]);

  test('a function in a structure that users reach, not in one that they do not', async () => {
    const source = `static const struct file_operations fops = {
	.unlocked_ioctl = dev_ioctl,
	.write = dev_write,
	.read = dev_read,
};
static const struct pci_ops pci = { .write = config_write };
static struct console con = { .write = con_write };
static const struct component_ops comp = { .bind = comp_bind };
static const struct proto_ops ops = {
	.bind = sock_bind,
	.connect = sock_no_connect,
	.ioctl = sock_ioctl,
};
static const struct genl_small_ops genl[] = {
	{ .cmd = CMD_GET, .doit = get_doit, },
};
static struct cftype files[] = {
	{ .name = "max", .write = max_write, },
	{ .name = "min", .write_u64 = min_write, },
};
static DEVICE_ATTR_RW(power);
static DEVICE_ATTR_RO(state);
static DEVICE_ATTR(speed, 0644, speed_show, speed_store);
DEFINE_DEBUGFS_ATTRIBUTE(reset_fops, NULL, reset_set, "%llu\\n");
DEFINE_SIMPLE_ATTRIBUTE(seen_fops, seen_get, NULL, "%llu\\n");
`;
    expect(await surfaces(source)).toEqual([
      ['surface-file-write', 24, 'write handler reset_set'],
      ['surface-file-write', 21, 'write handler power_store'],
      ['surface-file-write', 23, 'write handler speed_store'],
      ['surface-ioctl', 2, 'ioctl handler dev_ioctl'],
      ['surface-file-write', 3, 'write handler dev_write'],
      ['surface-sockopt', 10, 'socket operation sock_bind'],
      ['surface-ioctl', 12, 'ioctl handler sock_ioctl'],
      ['surface-netlink', 15, 'netlink handler get_doit'],
      ['surface-file-write', 18, 'write handler max_write'],
      ['surface-file-write', 19, 'write handler min_write'],
    ]);
  });

  test('module parameters that can be written while the module runs', async () => {
    const source = `module_param(debug, int, 0644);
module_param(irq, int, 0444);
module_param(io, int, 0);
module_param_named(level, my_level, uint,
		   S_IRUGO | S_IWUSR);
module_param_array(ports, int, NULL, S_IRUGO);
`;
    expect(await surfaces(source)).toEqual([
      ['surface-parameter', 1, 'module parameter debug, which can be written at run time'],
      ['surface-parameter', 4, 'module parameter level, which can be written at run time'],
    ]);
  });

  test('messages of netlink that are registered, with or without a word about it', async () => {
    const source = `void f(void)
{
	rtnl_register(PF_UNSPEC, RTM_SETLINK, set, NULL, 0);
	/* Further rtnl_register_module() cannot fail */
	rtnl_register_module(THIS_MODULE, PF_PHONET,
			     RTM_DELADDR, del, NULL, 0);
}
`;
    expect(await surfaces(source)).toEqual([
      ['surface-netlink', 3, 'netlink message RTM_SETLINK'],
      ['surface-netlink', 5, 'netlink message RTM_DELADDR'],
    ]);
  });

  test('what a comment shows is open to nobody', async () => {
    const source = `/*
 * SYSCALL_DEFINE1(never, int, a)
 */
SYSCALL_DEFINE1(always, int, a)
{
	return a;
}
`;
    expect(await surfaces(source)).toEqual([['surface-syscall', 4, 'system call always']]);
    const rust = '/// let x = unsafe { y() };\nfn f() {\n    unsafe { y() }\n}\n';
    expect(await found('rust', rust)).toEqual([['unsafe-block', 3, 'low']]);
  });
});

describe('what only looks like one', () => {
  test('brackets in characters and other quotes close nothing', async () => {
    const source = inFunction(
      "\tsprintf(to, f(')', '\"'), \"%s\");",
      "\tsystem(a == '\"');",
      '\t(strcpy)(p, q);',
    );
    expect(await found('c', source)).toEqual([
      ['unbounded-format', 3, 'medium'],
      ['shell-command', 4, 'high'],
      ['unbounded-copy', 5, 'high'],
    ]);
    const python = `subprocess.run(["grep", '"'])\nsubprocess.run(a, shell=True)\nsubprocess.run(')', shell=True)\n`;
    expect(await found('python', python)).toEqual([
      ['shell-option', 2, 'high'],
      ['shell-option', 3, 'high'],
    ]);
    const script = "spawn(`)`, { shell: true });\nspawn('\"');\n";
    expect(await found('javascript', script)).toEqual([['shell-option', 1, 'high']]);
  });

  test('a macro of a file from Windows', async () => {
    const source = '#define DBG(a) \\\r\n\tprintk(a); \\\r\n\tprintk(a)\r\n';
    expect(await found('c', source)).toEqual([]);
  });

  test('numbers, servers, masks and programs that do no harm', async () => {
    const go = `package a
func f() { rand.Int(rand.Reader, max); rand.Intn(3) }
`;
    expect(await found('go', go)).toEqual([['predictable-random', 2, 'low']]);
    const script = 'redis.eval(a);\neval(a);\nglobalThis.eval(a);\n';
    expect(await found('javascript', script)).toEqual([
      ['code-evaluation', 2, 'high'],
      ['code-evaluation', 3, 'high'],
    ]);
    const page = 'write(a);\nnode.write(a);\ndocument.write(a);\nel.insertAdjacentHTML(at, a);\n';
    expect(await found('javascript', page)).toEqual([
      ['html-injection', 3, 'medium'],
      ['html-injection', 4, 'medium'],
    ]);
    const python = 'os.spawnl(a, b)\nos.chmod(p, m & ~stat.S_IWOTH)\nos.chmod(p, stat.S_IWOTH)\n';
    expect(await found('python', python)).toEqual([['open-mode', 3, 'medium']]);
    const java = `class A { void f() {
  MessageDigest.getInstance("SHA-1");
  MessageDigest.getInstance("MD5");
  MessageDigest.getInstance("SHA-256");
  Cipher.getInstance("DES");
} }
`;
    expect(await found('java', java)).toEqual([
      ['weak-hash', 2, 'medium'],
      ['weak-hash', 3, 'medium'],
      ['weak-cipher', 5, 'high'],
    ]);
  });

  test('comments, and statements that begin as they do', async () => {
    expect(
      await found('rust', 'fn f() {\n    *p = unsafe { g() };\n    // unsafe { }\n}\n'),
    ).toEqual([['unsafe-block', 2, 'low']]);
    const python = 'p.add_argument("--new")\n# p.add_argument("--old")\n';
    expect(await found('python', python)).toEqual([['surface-cli', 1, 'info']]);
  });

  test('a secret in a long line is told once, and one behind it as well', async () => {
    const source = `password = "hunter2hunter2"; ${'secret '.repeat(300)} api_key = "a1b2c3d4e5f6g7"\n`;
    expect(await found('settings', source)).toEqual([
      ['secret', 1, 'high'],
      ['secret', 1, 'high'],
    ]);
  });
});
