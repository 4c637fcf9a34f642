/** Of the documentation of Python: modules that come with it. */
export const standardModules: ReadonlySet<string> = new Set(
  (
    'abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins bz2 ' +
    'cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall concurrent ' +
    'configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal ' +
    'difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput ' +
    'fnmatch fractions ftplib functools gc getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html ' +
    'http imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale ' +
    'logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder multiprocessing netrc nis nntplib ' +
    'ntpath numbers operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform ' +
    'plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc queue quopri random re ' +
    'readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site ' +
    'smtpd smtplib sndhdr socket socketserver spwd sqlite3 ssl stat statistics string stringprep struct ' +
    'subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap ' +
    'threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle types typing ' +
    'unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser wsgiref xdrlib xml xmlrpc zipapp ' +
    'zipfile zipimport zlib zoneinfo'
  ).split(' '),
);

/** Those whose functions give back what they are given, or what that gives. */
export const givingModules: ReadonlySet<string> = new Set(
  (
    'asyncio collections concurrent contextlib contextvars copy dataclasses functools itertools multiprocessing ' +
    'operator queue threading typing types unittest weakref heapq importlib inspect pickle'
  ).split(' '),
);

/** Names that no text needs to define. */
export const builtins: ReadonlySet<string> = new Set(
  (
    'ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError ' +
    'BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ' +
    'ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning ' +
    'EnvironmentError Exception ExceptionGroup False FileExistsError FileNotFoundError FloatingPointError ' +
    'FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError IndexError InterruptedError ' +
    'IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError None ' +
    'NotADirectoryError NotImplemented NotImplementedError OSError OverflowError PendingDeprecationWarning ' +
    'PermissionError ProcessLookupError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning ' +
    'StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError True ' +
    'TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError ' +
    'UnicodeWarning UserWarning ValueError Warning ZeroDivisionError abs aiter all anext any ascii bin bool ' +
    'breakpoint bytearray bytes callable chr classmethod compile complex delattr dict dir divmod enumerate eval ' +
    'exec filter float format frozenset getattr globals hasattr hash hex id input int isinstance issubclass iter ' +
    'len list locals map max memoryview min next object oct open ord pow print property range repr reversed round ' +
    'set setattr slice sorted staticmethod str sum super tuple type vars zip exit quit help __name__ __file__ ' +
    '__doc__ __package__ __spec__ __import__'
  ).split(' '),
);
