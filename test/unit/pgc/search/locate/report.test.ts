import { describe, expect, test } from 'vitest';
import { BusError } from '../../../../../src/errors/bus-error.js';
import {
  parseReport,
  reportCharsMax,
  reportOf,
  sectionWordsMax,
  type ParsedReport,
} from '../../../../../src/pgc/search/locate/report.js';

function parse(description: string, title = 'something fails'): ParsedReport {
  return parseReport({ title, description });
}

function symbolsOf(description: string): string[] {
  return parse(description).frames.map(({ symbol }) => symbol);
}

function spellings(terms: ParsedReport['terms'][keyof ParsedReport['terms']]): string[] {
  return [...new Set([...terms.values()].map(({ spelling }) => spelling))];
}

const oops = `
[ 1234.567890] BUG: unable to handle page fault for address: ffffa1c3e0000000
[ 1234.567891] #PF: supervisor read access in kernel mode
[ 1234.567892] Oops: 0000 [#1] SMP PTI
[ 1234.567893] CPU: 3 PID: 4242 Comm: kworker/u16:2 Tainted: G        W         5.6.7-arch1-1 #1
[ 1234.567894] Hardware name: LENOVO 20QD/20QD, BIOS N2HET48W (1.31 ) 01/10/2020
[ 1234.567895] Workqueue: cfg80211 cfg80211_rfkill_sync_work [cfg80211]
[ 1234.567896] RIP: 0010:iwl_mvm_rx_queue_sync.isra.0+0x1f/0x90 [iwlmvm]
[ 1234.567897] Code: 48 89 e5 41 57 41 56 <0f> 0b 41 55 41 54
[ 1234.567898] RSP: 0018:ffffb0f0c0b3fd68 EFLAGS: 00010246
[ 1234.567899] RAX: 0000000000000000 RBX: ffff9c1f0a2b3c4d RCX: 0000000000000001
[ 1234.567900] CR2: ffffa1c3e0000000 CR3: 00000001f5a0a001 CR4: 00000000003606e0
[ 1234.567901] Call Trace:
[ 1234.567902]  <TASK>
[ 1234.567903]  dump_stack_lvl+0x45/0x5a
[ 1234.567904]  ? ieee80211_stop_queues+0x10/0x40 [mac80211]
[ 1234.567905]  iwl_mvm_mac_stop+0xaa/0x100 [iwlmvm]
[ 1234.567906]  process_one_work+0x1e2/0x3b0
[ 1234.567907]  ret_from_fork+0x35/0x40
[ 1234.567908]  </TASK>
[ 1234.567909] Modules linked in: snd_hda_codec_hdmi ccm rfcomm cmac bnep btusb
[ 1234.567910]  nouveau video wmi intel_lpss_pci idma64
[ 1234.567911] iwlwifi 0000:00:14.3: Queue 5 is stuck 12 34
[ 1234.567912] ---[ end trace 1234567890abcdef ]---
`;

describe('an oops of the kernel', () => {
  const parsed = parse(oops);

  test('gives the fault first, then its callers, without what stands in every trace', () => {
    expect(
      parsed.frames.map(({ symbol, module, isUncertain, isFault }) => [
        ...[symbol, module, isUncertain, isFault],
      ]),
    ).toEqual([
      ['iwl_mvm_rx_queue_sync', 'iwlmvm', false, true],
      ['ieee80211_stop_queues', 'mac80211', true, false],
      ['iwl_mvm_mac_stop', 'iwlmvm', false, false],
    ]);
  });

  test('gives its messages as log lines, and nothing of registers, code and lists of modules', () => {
    expect(parsed.logLines).toEqual([
      'BUG: unable to handle page fault for address: ffffa1c3e0000000',
      '#PF: supervisor read access in kernel mode',
      'Oops: 0000 [#1] SMP PTI',
      'iwlwifi 0000:00:14.3: Queue 5 is stuck 12 34',
    ]);
    for (const word of ['nouveau', 'snd_hda_codec_hdmi', 'RBX', 'LENOVO', 'kworker'])
      expect(spellings(parsed.terms.log)).not.toContain(word);
    expect(parsed.terms.prose.size).toBe(0);
  });

  test('names what speaks in the log and what the functions were loaded with', () => {
    expect(parsed.drivers).toEqual(['iwlwifi', 'iwlmvm', 'mac80211']);
  });
});

describe('frames of other traces, innermost first', () => {
  const rows: [what: string, text: string, frames: [string, string, number][]][] = [
    [
      'an old kernel',
      'EIP is at elevator_put+0x0/0x30\n [<c01f1234>] elevator_init+0x38/0x50\n [<c0123456>] ? blk_init_queue',
      [
        ['elevator_put', '', 0],
        ['elevator_init', '', 0],
        ['blk_init_queue', '', 0],
      ],
    ],
    [
      'arm64',
      'pc : dwc3_gadget_ep_queue+0x1c/0x2d0\nlr : usb_ep_queue+0x3c/0x120\nx29: ffff80001234b000 x28: 0000000000000000',
      [
        ['dwc3_gadget_ep_queue', '', 0],
        ['usb_ep_queue', '', 0],
      ],
    ],
    [
      'Python',
      'Traceback (most recent call last):\n  File "/usr/lib/app/main.py", line 10, in <module>\n    run()\n  File "/usr/lib/app/store.py", line 52, in load_index\n    raise KeyError\nKeyError: 1',
      [['load_index', '/usr/lib/app/store.py', 52]],
    ],
    [
      'JavaScript',
      'TypeError: x is not a function\n    at Mailbox.settle (/app/src/broker/mailbox.ts:12:5)\n    at async file:///app/src/main.js:7:1\n    at async Promise.all (index 0)',
      [['settle', '/app/src/broker/mailbox.ts', 12]],
    ],
    [
      'Go',
      'goroutine 1 [running]:\nmain.(*Server).handleConn(0xc000010000)\n\t/src/app/server.go:123 +0x1f\nmain.main()\n\t/src/app/main.go:7 +0x20',
      [
        ['handleConn', '/src/app/server.go', 123],
        ['main', '/src/app/main.go', 7],
      ],
    ],
    [
      'Rust',
      'stack backtrace:\n   3: app::index::Segment::open::h0123456789abcdef\n             at ./src/index/segment.rs:88:9',
      [['open', './src/index/segment.rs', 88]],
    ],
    [
      'Java',
      'java.lang.IllegalStateException\n\tat org.example.store.Journal.append(Journal.java:45)\n\tat org.example.Main.main(Main.java:9)',
      [
        ['append', 'Journal.java', 45],
        ['main', 'Main.java', 9],
      ],
    ],
    [
      'gdb',
      '#0  0x00007ffff7a42428 in parse_header (buf=0x0, len=12) at src/parse.c:77\n#1  main (argc=1) at src/main.c:5',
      [
        ['parse_header', 'src/parse.c', 77],
        ['main', 'src/main.c', 5],
      ],
    ],
  ];
  test.each(rows)('%s', (_, text, frames) => {
    expect(parse(text).frames.map(({ symbol, path, line }) => [symbol, path, line])).toEqual(
      frames,
    );
  });

  test('in Python, the caller of a frame comes after it', () => {
    const text =
      'Traceback (most recent call last):\n  File "a.py", line 1, in outer\n  File "b.py", line 2, in inner\nError';
    expect(symbolsOf(text)).toEqual(['inner', 'outer']);
  });

  test('a place without a function is named as a path', () => {
    const { paths } = parse('    at async file:///app/src/main.js:7:1');
    expect(paths).toEqual([{ path: '/app/src/main.js', line: 7 }]);
  });

  test('one that was seen without doubt is without doubt', () => {
    const text = ' ? foo_bar+0x1/0x2\n foo_bar+0x1/0x2';
    expect(parse(text).frames).toMatchObject([{ symbol: 'foo_bar', isUncertain: false }]);
  });
});

describe('what a report names', () => {
  test('options, devices, versions, paths and names that are written as code', () => {
    const parsed = parse(
      'Since 5.4.2 with CONFIG_IWLWIFI=m the card 8086:2526 (subdevice 0x4010) fails in ' +
        'drivers/net/wireless/intel/iwlwifi/pcie/drv.c:123. Calling iwl_pci_probe() or readIndex does it, see mm/slub.c.',
    );
    expect(parsed.options).toEqual(['CONFIG_IWLWIFI']);
    expect(parsed.devices).toEqual([
      { vendor: '8086', device: '2526', text: '8086:2526' },
      { vendor: '', device: '4010', text: '0x4010' },
    ]);
    expect(parsed.versions).toEqual(['5.4.2']);
    expect(parsed.paths).toEqual([
      { path: 'drivers/net/wireless/intel/iwlwifi/pcie/drv.c', line: 123 },
      { path: 'mm/slub.c', line: 0 },
    ]);
    expect(parsed.symbols).toEqual([
      { name: 'iwl_pci_probe', isInTitle: false, isCall: true },
      { name: 'readIndex', isInTitle: false, isCall: false },
    ]);
  });

  test('an address of a bus is no device id', () => {
    expect(parse('iwlwifi 0000:00:14.3: failed').devices).toEqual([]);
  });

  test('a term knows how often it stands there, how it was written first, and where', () => {
    const { prose } = parse('Buffers leak. The buffer is lost.').terms;
    expect(prose.get('buffer')).toEqual({ count: 2, spelling: 'Buffers', place: 1 });
  });
});

describe('a line is', () => {
  const kinds = (text: string): [prose: boolean, log: boolean] => {
    const { prose, log } = parse(text, '').terms;
    return [prose.has('zebra'), log.has('zebra')];
  };
  test.each([
    ['prose', 'The zebra stops.', [true, false]],
    ['a log line by its stamp', '[   12.345678] zebra stops', [false, true]],
    [
      'a log line by its priority and date',
      'Nov 21 12:00:00 host kernel: zebra stops',
      [false, true],
    ],
    ['a log line by its driver', 'zebra 0000:00:14.3: it stops', [false, true]],
    ['a log line by how it begins', 'kernel BUG at mm/zebra.c!', [false, true]],
    ['a log line by its shape', 'usb 1-1: zebra stops (12)', [false, true]],
    ['prose where settings are few', 'Zebra = yes\nHorse = no', [true, false]],
    ['a log line in a listing', 'Zebra = yes\nHorse = no\nDonkey = no\nMule = no', [false, true]],
  ])('%s', (_, text, expected) => {
    expect(kinds(`${text}\nAnd other words.`)).toEqual(expected);
  });

  test.each([
    ['a register', 'RAX: 00000000zebra RBX: 0000000000000001'],
    ['a trailer', 'Signed-off-by: Zebra <z@example.org>'],
    ['a list of modules', 'Modules linked in: zebra horse'],
    [
      'how a list of modules goes on',
      'Modules linked in: horse donkey\n zebra mule horse2 donkey2',
    ],
    ['where a trace begins', 'Call Trace: zebra'],
  ])('nothing where it is %s', (_, text) => {
    expect(kinds(`${text}\nAnd other words.`)).toEqual([false, false]);
  });

  test('without what a form asks for', () => {
    const { prose } = parse('Steps to reproduce: ride the zebra', '').terms;
    expect([...prose.keys()]).toEqual(['ride', 'zebra']);
  });
});

describe('texts that are no plain description', () => {
  test('a dump in hexadecimal digits says nothing', () => {
    const { terms } = parse(
      '00000010: de ad be ef 00 11 22 33\nffff8880 deadbeef 00000000 12345678 cafebabe 00000000 ffffffff',
    );
    expect(terms.prose.size + terms.log.size).toBe(0);
  });

  test('a message a thousand times is one', () => {
    const parsed = parse('[    1.000000] usb 1-1: reset failed\n'.repeat(1_000));
    expect(parsed.logLines).toEqual(['usb 1-1: reset failed']);
    expect(parsed.terms.log.get('reset')).toMatchObject({ count: 1 });
  });

  test('beyond a megabyte nothing is read, and that is said', () => {
    const parsed = parse(`${'word '.repeat(reportCharsMax / 5)}\nbeyondtheend`);
    expect(parsed.terms.prose.has('beyondtheend')).toBe(false);
    expect(parsed.warnings).toEqual([
      `only the first ${reportCharsMax} characters were read, of ${reportCharsMax - 1 + 13}`,
    ]);
  });

  test('so many different words are looked up, and no more', () => {
    const words = Array.from({ length: sectionWordsMax + 10 }, (_, at) => `wörd${at}x`);
    const parsed = parse(words.join(' '));
    expect(parsed.terms.prose.size).toBe(sectionWordsMax);
    expect(parsed.warnings).toEqual([
      `only the first ${sectionWordsMax} different words of the prose were looked up`,
    ]);
  });

  test('bytes that are no text are refused', () => {
    const bytes = Buffer.from(Array.from({ length: 4_096 }, (_, at) => (at * 197) % 256));
    expect(() => parse(bytes.toString('utf8'), '')).toThrow(
      new BusError('REPORT_UNREADABLE', { detail: 'it is not text' }),
    );
  });

  test.each(['', '   \n\t\n', '1234 5678', '--- *** ---'])(
    '%j holds nothing to look for',
    (text) => {
      expect(() => parse(text, '')).toThrow(new BusError('REPORT_EMPTY'));
    },
  );

  test('another script is read, and what that means is said', () => {
    const parsed = parse('Не работает вайфай после сна, ядро 6.1, iwlwifi молчит', 'Нет сети');
    expect(parsed.terms.prose.has('вайфай')).toBe(true);
    expect(parsed.terms.prose.has('iwlwifi')).toBe(true);
    expect(parsed.warnings).toEqual([expect.stringContaining('not in Latin letters')]);
  });

  test('of a plain text the first line that says something is the title', () => {
    expect(reportOf('\n\n  WiFi dies \nafter suspend\n')).toEqual({
      title: 'WiFi dies',
      description: 'after suspend\n',
    });
    expect(reportOf('  ')).toEqual({ title: '', description: '' });
  });
});
