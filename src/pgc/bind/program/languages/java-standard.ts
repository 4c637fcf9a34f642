/**
 * Types that come with the JDK (17) and that programs use everywhere: what each is based on, and by what they give the
 * methods of which all of a name give the same; those of its bases are not repeated. `$0`, `List<0>`: the type of the first
 * thing given, or a list of it; `$number`: of the widest number given. Otherwise what type parameters stand for is left out.
 */
const written = `
ThreadLocal ThreadLocal:withInitial
Object Class:getClass String:toString boolean:equals int:hashCode
Boolean(Comparable Serializable) Boolean:valueOf boolean:booleanValue,getBoolean,logicalAnd,logicalOr,logicalXor,parseBoolean
  int:compare,compareTo
Byte(Comparable Number) byte:byteValue double:doubleValue float:floatValue int:compareTo,intValue long:longValue
  short:shortValue
Character(Comparable Serializable) char:charValue int:compareTo,getNumericValue
CharSequence CharSequence:subSequence IntStream:chars,codePoints boolean:isEmpty char:charAt int:compare,length
Class(AnnotatedElement GenericDeclaration Serializable Type) AnnotatedType:getAnnotatedSuperclass
  AnnotatedType[]:getAnnotatedInterfaces Annotation[]:getAnnotations,getDeclaredAnnotations Class:arrayType,asSubclass,
  componentType,forName,getComponentType,getDeclaringClass,getEnclosingClass,getNestHost,getSuperclass
  ClassLoader:getClassLoader Constructor:getConstructor,getDeclaredConstructor,getEnclosingConstructor Field:getDeclaredField,
  getField Field[]:getDeclaredFields,getFields InputStream:getResourceAsStream Method:getDeclaredMethod,getEnclosingMethod,
  getMethod Method[]:getDeclaredMethods,getMethods Module:getModule Object[]:getSigners Package:getPackage
  ProtectionDomain:getProtectionDomain RecordComponent[]:getRecordComponents String:descriptorString,getCanonicalName,getName,
  getPackageName,getSimpleName,getTypeName,toGenericString Type:getGenericSuperclass Type[]:getGenericInterfaces URL:getResource
  boolean:desiredAssertionStatus,isAnnotation,isAnnotationPresent,isAnonymousClass,isArray,isAssignableFrom,isEnum,isHidden,
  isInstance,isInterface,isLocalClass,isMemberClass,isNestmateOf,isPrimitive,isRecord,isSealed,isSynthetic int:getModifiers
Comparable int:compareTo
Double(Comparable Number) Double:valueOf String:toHexString boolean:isFinite,isInfinite,isNaN byte:byteValue double:doubleValue,
  longBitsToDouble,max,min,parseDouble,sum float:floatValue int:compare,compareTo,intValue long:doubleToLongBits,
  doubleToRawLongBits,longValue short:shortValue
Enum(Comparable Serializable) Class:getDeclaringClass String:name int:compareTo,ordinal
Float(Comparable Number) Float:valueOf String:toHexString boolean:isFinite,isInfinite,isNaN byte:byteValue double:doubleValue
  float:floatValue,intBitsToFloat,max,min,parseFloat,sum int:compare,compareTo,floatToIntBits,floatToRawIntBits,intValue
  long:longValue short:shortValue
Integer(Comparable Number) Integer:decode,getInteger,valueOf String:toBinaryString,toHexString,toOctalString,toUnsignedString
  byte:byteValue double:doubleValue float:floatValue int:bitCount,compare,compareTo,compareUnsigned,divideUnsigned,
  highestOneBit,intValue,lowestOneBit,max,min,numberOfLeadingZeros,numberOfTrailingZeros,parseInt,parseUnsignedInt,
  remainderUnsigned,reverse,reverseBytes,rotateLeft,rotateRight,signum,sum long:longValue,toUnsignedLong short:shortValue
Iterable Iterator:iterator Spliterator:spliterator
Long(Comparable Number) Long:decode,getLong,valueOf String:toBinaryString,toHexString,toOctalString,toUnsignedString
  byte:byteValue double:doubleValue float:floatValue int:bitCount,compare,compareTo,compareUnsigned,intValue,
  numberOfLeadingZeros,numberOfTrailingZeros,signum long:divideUnsigned,highestOneBit,longValue,lowestOneBit,max,min,parseLong,
  parseUnsignedLong,remainderUnsigned,reverse,reverseBytes,rotateLeft,rotateRight,sum short:shortValue
Math $number:abs,absExact,addExact,copySign,decrementExact,fma,incrementExact,max,min,negateExact,nextDown,nextUp,signum,
  subtractExact,ulp double:IEEEremainder,acos,asin,atan,atan2,cbrt,ceil,cos,cosh,exp,expm1,floor,hypot,log,log10,log1p,pow,
  random,rint,sin,sinh,sqrt,tan,tanh,toDegrees,toRadians int:getExponent,toIntExact long:multiplyFull,multiplyHigh
Number(Serializable) byte:byteValue double:doubleValue float:floatValue int:intValue long:longValue short:shortValue
Runnable
Short(Comparable Number) byte:byteValue double:doubleValue float:floatValue int:compareTo,intValue long:longValue
  short:shortValue
String(CharSequence Comparable Serializable) CharSequence:subSequence IntStream:chars,codePoints Stream:lines String:concat,
  copyValueOf,format,formatted,indent,intern,join,repeat,replace,replaceAll,replaceFirst,strip,stripIndent,stripLeading,
  stripTrailing,substring,toLowerCase,toUpperCase,translateEscapes,trim,valueOf String[]:split boolean:contains,contentEquals,
  endsWith,equalsIgnoreCase,isBlank,isEmpty,matches,regionMatches,startsWith char:charAt char[]:toCharArray int:codePointAt,
  codePointBefore,codePointCount,compareTo,compareToIgnoreCase,indexOf,lastIndexOf,length,offsetByCodePoints
StringBuilder(CharSequence Comparable Serializable) StringBuilder:append,appendCodePoint,delete,deleteCharAt,insert,replace,
  reverse int:compareTo,indexOf,lastIndexOf
System Channel:inheritedChannel Console:console Logger:getLogger Properties:getProperties SecurityManager:getSecurityManager
  String:clearProperty,getProperty,lineSeparator,mapLibraryName,setProperty int:identityHashCode long:currentTimeMillis,nanoTime
Thread(Runnable) ClassLoader:getContextClassLoader Map:getAllStackTraces StackTraceElement[]:getStackTrace State:getState
  String:getName Thread:currentThread ThreadGroup:getThreadGroup UncaughtExceptionHandler:getDefaultUncaughtExceptionHandler,
  getUncaughtExceptionHandler boolean:holdsLock,interrupted,isAlive,isDaemon,isInterrupted int:activeCount,countStackFrames,
  enumerate,getPriority long:getId
Throwable(Serializable) StackTraceElement[]:getStackTrace String:getLocalizedMessage,getMessage Throwable:fillInStackTrace,
  getCause,initCause Throwable[]:getSuppressed
AutoCloseable
Constructor(Executable) AnnotatedType:getAnnotatedReceiverType,getAnnotatedReturnType Annotation[]:getAnnotations,
  getDeclaredAnnotations Annotation[][]:getParameterAnnotations Class:getDeclaringClass String:getName,toGenericString
  Type[]:getGenericExceptionTypes,getGenericParameterTypes boolean:canAccess,isAccessible,isAnnotationPresent,isSynthetic,
  isVarArgs,trySetAccessible int:getModifiers,getParameterCount
Executable(AnnotatedElement GenericDeclaration) AnnotatedType:getAnnotatedReceiverType,getAnnotatedReturnType
  AnnotatedType[]:getAnnotatedExceptionTypes,getAnnotatedParameterTypes Annotation[]:getAnnotations,getDeclaredAnnotations
  Annotation[][]:getParameterAnnotations Class:getDeclaringClass Parameter[]:getParameters String:getName,toGenericString
  Type[]:getGenericExceptionTypes,getGenericParameterTypes boolean:canAccess,isAccessible,isAnnotationPresent,isSynthetic,
  isVarArgs,trySetAccessible int:getModifiers,getParameterCount
Field(AnnotatedElement) AnnotatedType:getAnnotatedType Annotation[]:getAnnotations,getDeclaredAnnotations
  Class:getDeclaringClass,getType Object:get String:getName,toGenericString Type:getGenericType boolean:canAccess,getBoolean,
  isAccessible,isAnnotationPresent,isEnumConstant,isSynthetic,trySetAccessible byte:getByte char:getChar double:getDouble
  float:getFloat int:getInt,getModifiers long:getLong short:getShort
Method(Executable) AnnotatedType:getAnnotatedReturnType Annotation[]:getAnnotations,getDeclaredAnnotations
  Annotation[][]:getParameterAnnotations Class:getDeclaringClass,getReturnType Object:getDefaultValue,invoke String:getName,
  toGenericString Type:getGenericReturnType Type[]:getGenericExceptionTypes,getGenericParameterTypes boolean:canAccess,
  isAccessible,isAnnotationPresent,isBridge,isDefault,isSynthetic,isVarArgs,trySetAccessible int:getModifiers,getParameterCount
Type String:getTypeName
AnnotatedElement
GenericDeclaration(AnnotatedElement)
Serializable
Closeable(AutoCloseable)
File(Comparable Serializable) File:createTempFile,getAbsoluteFile,getCanonicalFile,getParentFile File[]:listFiles,listRoots
  Path:toPath String:getAbsolutePath,getCanonicalPath,getName,getParent,getPath String[]:list URI:toURI URL:toURL
  boolean:canExecute,canRead,canWrite,createNewFile,delete,exists,isAbsolute,isDirectory,isFile,isHidden,mkdir,mkdirs,renameTo,
  setExecutable,setLastModified,setReadOnly,setReadable,setWritable int:compareTo long:getFreeSpace,getTotalSpace,
  getUsableSpace,lastModified,length
InputStream(Closeable) InputStream:nullInputStream boolean:markSupported byte[]:readAllBytes int:available,read long:skip,
  transferTo
OutputStream(Closeable) OutputStream:nullOutputStream
Reader(Closeable) Reader:nullReader boolean:markSupported,ready int:read long:skip,transferTo
Writer(Closeable) Writer:append,nullWriter
BufferedReader(Reader) Stream:lines String:readLine boolean:markSupported,ready int:read long:skip
ByteArrayInputStream(InputStream) boolean:markSupported byte[]:readAllBytes int:available,read,readNBytes long:skip,transferTo
ByteArrayOutputStream(OutputStream) byte[]:toByteArray int:size
PrintStream(Closeable OutputStream) PrintStream:append,format,printf boolean:checkError
PrintWriter(Writer) PrintWriter:append,format,printf boolean:checkError
StringReader(Reader) boolean:markSupported,ready int:read long:skip
StringWriter(Writer) StringBuffer:getBuffer StringWriter:append
URI(Comparable Serializable) String:getAuthority,getFragment,getHost,getPath,getQuery,getRawAuthority,getRawFragment,getRawPath,
  getRawQuery,getRawSchemeSpecificPart,getRawUserInfo,getScheme,getSchemeSpecificPart,getUserInfo,toASCIIString URI:create,
  normalize,parseServerAuthority,relativize,resolve URL:toURL boolean:isAbsolute,isOpaque int:compareTo,getPort
URL(Serializable) InputStream:openStream Object:getContent String:getAuthority,getFile,getHost,getPath,getProtocol,getQuery,
  getRef,getUserInfo,toExternalForm URI:toURI URLConnection:openConnection boolean:sameFile int:getDefaultPort,getPort
Files BufferedReader:newBufferedReader BufferedWriter:newBufferedWriter DirectoryStream:newDirectoryStream
  FileStore:getFileStore FileTime:getLastModifiedTime InputStream:newInputStream List:readAllLines Object:getAttribute
  OutputStream:newOutputStream Path:createDirectories,createDirectory,createFile,createLink,createSymbolicLink,
  createTempDirectory,createTempFile,move,readSymbolicLink,setAttribute,setLastModifiedTime,setOwner,setPosixFilePermissions,
  walkFileTree,write,writeString SeekableByteChannel:newByteChannel Set:getPosixFilePermissions Stream:find,lines,list,walk
  String:probeContentType,readString UserPrincipal:getOwner boolean:deleteIfExists,exists,isDirectory,isExecutable,isHidden,
  isReadable,isRegularFile,isSameFile,isSymbolicLink,isWritable,notExists byte[]:readAllBytes long:mismatch,size
Path(Comparable Iterable) File:toFile FileSystem:getFileSystem Iterator:iterator Path:getFileName,getName,getParent,getRoot,
  normalize,of,relativize,resolve,resolveSibling,subpath,toAbsolutePath,toRealPath URI:toUri WatchKey:register boolean:endsWith,
  isAbsolute,startsWith int:compareTo,getNameCount
Paths Path:get
ArrayDeque(Collection Deque Serializable) ArrayDeque:clone Iterator:descendingIterator,iterator Spliterator:spliterator
  boolean:add,addAll,contains,containsAll,isEmpty,offer,offerFirst,offerLast,removeAll,removeFirstOccurrence,removeIf,
  removeLastOccurrence,retainAll int:size
ArrayList(Collection List Serializable) Iterator:iterator List:subList ListIterator:listIterator Object:clone
  Spliterator:spliterator boolean:addAll,contains,containsAll,isEmpty,removeAll,removeIf,retainAll int:indexOf,lastIndexOf,size
Arrays List<0>:asList String:deepToString boolean:deepEquals int:binarySearch,compare,compareUnsigned,deepHashCode,mismatch
Collection(Iterable) Iterator:iterator Spliterator:spliterator Stream:parallelStream,stream boolean:add,addAll,contains,
  containsAll,isEmpty,remove,removeAll,removeIf,retainAll int:size
Collections ArrayList:list Collection:checkedCollection,synchronizedCollection,unmodifiableCollection Comparator:reverseOrder
  Enumeration:emptyEnumeration,enumeration Iterator:emptyIterator List:checkedList,emptyList,synchronizedList,unmodifiableList
  List<0>:singletonList List<1>:nCopies ListIterator:emptyListIterator Map:checkedMap,emptyMap,synchronizedMap,unmodifiableMap
  Map<0,1>:singletonMap NavigableMap:checkedNavigableMap,emptyNavigableMap,synchronizedNavigableMap,unmodifiableNavigableMap
  NavigableSet:checkedNavigableSet,emptyNavigableSet,synchronizedNavigableSet,unmodifiableNavigableSet Queue:asLifoQueue,
  checkedQueue Set:checkedSet,emptySet,newSetFromMap,synchronizedSet,unmodifiableSet Set<0>:singleton
  SortedMap:checkedSortedMap,emptySortedMap,synchronizedSortedMap,unmodifiableSortedMap SortedSet:checkedSortedSet,
  emptySortedSet,synchronizedSortedSet,unmodifiableSortedSet boolean:addAll,disjoint,replaceAll int:binarySearch,frequency,
  indexOfSubList,lastIndexOfSubList
Comparator Comparator:comparing,comparingDouble,comparingInt,comparingLong,naturalOrder,nullsFirst,nullsLast,reverseOrder,
  reversed,thenComparing,thenComparingDouble,thenComparingInt,thenComparingLong int:compare
Date(Comparable Serializable) Date:from Instant:toInstant Object:clone String:toGMTString,toLocaleString boolean:after,before
  int:compareTo,getDate,getDay,getHours,getMinutes,getMonth,getSeconds,getTimezoneOffset,getYear long:UTC,getTime,parse
Deque(Queue) Iterator:descendingIterator,iterator boolean:add,addAll,contains,offer,offerFirst,offerLast,removeFirstOccurrence,
  removeLastOccurrence int:size
EnumMap(Map Serializable) Collection:values EnumMap:clone Set:entrySet,keySet boolean:containsKey,containsValue,isEmpty int:size
EnumSet(Collection Serializable Set) EnumSet:allOf,clone,complementOf,copyOf,noneOf EnumSet<0>:of,range Iterator:iterator
  boolean:add,addAll,contains,containsAll,isEmpty,remove,removeAll,retainAll int:size
HashMap(Map Serializable) Collection:values Object:clone Set:entrySet,keySet boolean:containsKey,containsValue,isEmpty int:size
HashSet(Collection Serializable Set) Iterator:iterator Object:clone Spliterator:spliterator boolean:add,addAll,contains,
  containsAll,isEmpty,remove,removeAll,retainAll int:size
Iterator boolean:hasNext
LinkedHashMap(HashMap Map) Collection:values Set:entrySet,keySet boolean:containsValue
LinkedHashSet(HashSet Serializable Set) Spliterator:spliterator boolean:addAll,containsAll,removeAll,retainAll
LinkedList(Collection Deque List Serializable) Iterator:descendingIterator,iterator List:subList ListIterator:listIterator
  Object:clone Spliterator:spliterator boolean:addAll,contains,containsAll,isEmpty,offer,offerFirst,offerLast,removeAll,
  removeFirstOccurrence,removeLastOccurrence,retainAll int:indexOf,lastIndexOf,size
List(Collection) Iterator:iterator List:copyOf,subList List<0>:of ListIterator:listIterator Spliterator:spliterator
  boolean:addAll,contains,containsAll,isEmpty,removeAll,retainAll int:indexOf,lastIndexOf,size
ListIterator(Iterator) boolean:hasNext,hasPrevious int:nextIndex,previousIndex
Map Collection:values Entry<0,1>:entry Map:copyOf,ofEntries Map<0,1>:of Set:entrySet,keySet boolean:containsKey,containsValue,
  isEmpty int:size
NavigableMap(SortedMap) Entry:ceilingEntry,firstEntry,floorEntry,higherEntry,lastEntry,lowerEntry,pollFirstEntry,pollLastEntry
  NavigableMap:descendingMap NavigableSet:descendingKeySet,navigableKeySet
NavigableSet(SortedSet) Iterator:descendingIterator,iterator NavigableSet:descendingSet
Objects $0:requireNonNull,requireNonNullElse,requireNonNullElseGet $number:checkFromIndexSize,checkFromToIndex,checkIndex
  boolean:deepEquals,isNull,nonNull int:compare,hash
Locale(Serializable) List:filter,filterTags Locale:forLanguageTag,getDefault,lookup,stripExtensions Locale[]:getAvailableLocales
  Object:clone Set:getExtensionKeys,getUnicodeLocaleAttributes,getUnicodeLocaleKeys String:getCountry,getDisplayCountry,
  getDisplayLanguage,getDisplayName,getDisplayScript,getDisplayVariant,getExtension,getISO3Country,getISO3Language,getLanguage,
  getScript,getUnicodeLocaleType,getVariant,lookupTag,toLanguageTag String[]:getISOLanguages boolean:hasExtensions
Optional Optional:empty,filter,flatMap,map,or Optional<0>:of,ofNullable Stream:stream boolean:isEmpty,isPresent
PriorityQueue(Collection Queue Serializable) Comparator:comparator Iterator:iterator Spliterator:spliterator boolean:add,addAll,
  contains,containsAll,isEmpty,offer,removeAll,removeIf,retainAll int:size
Properties(Map Serializable) Collection:values Enumeration:elements,keys,propertyNames Object:clone,compute,computeIfAbsent,
  computeIfPresent,get,getOrDefault,merge,put,putIfAbsent,setProperty Set:entrySet,keySet,stringPropertyNames String:getProperty
  boolean:contains,containsKey,containsValue,isEmpty int:size
Queue(Collection) boolean:add,offer
Random(Serializable) DoubleStream:doubles IntStream:ints LongStream:longs boolean:isDeprecated,nextBoolean double:nextDouble,
  nextExponential,nextGaussian float:nextFloat int:nextInt long:nextLong
Set(Collection) Iterator:iterator Set:copyOf Set<0>:of Spliterator:spliterator boolean:add,addAll,contains,containsAll,isEmpty,
  remove,removeAll,retainAll int:size
SortedMap(Map) Collection:values Comparator:comparator Set:entrySet,keySet SortedMap:headMap,subMap,tailMap
SortedSet(Set) Comparator:comparator SortedSet:headSet,subSet,tailSet Spliterator:spliterator
Stack(Collection List Serializable) Enumeration:elements Iterator:iterator List:subList ListIterator:listIterator Object:clone
  Spliterator:spliterator boolean:addAll,contains,containsAll,empty,isEmpty,removeAll,removeElement,removeIf,retainAll
  int:capacity,indexOf,lastIndexOf,search,size
TreeMap(Map NavigableMap Serializable) Collection:values Comparator:comparator Entry:ceilingEntry,firstEntry,floorEntry,
  higherEntry,lastEntry,lowerEntry,pollFirstEntry,pollLastEntry NavigableMap:descendingMap NavigableSet:descendingKeySet,
  navigableKeySet Object:clone Set:entrySet,keySet boolean:containsKey,containsValue,isEmpty int:size
TreeSet(Collection NavigableSet Serializable Set) Comparator:comparator Iterator:descendingIterator,iterator
  NavigableSet:descendingSet Object:clone Spliterator:spliterator boolean:add,addAll,contains,containsAll,isEmpty,remove,
  removeAll,retainAll int:size
UUID(Comparable Serializable) UUID:fromString,nameUUIDFromBytes,randomUUID int:clockSequence,compareTo,variant,version
  long:getLeastSignificantBits,getMostSignificantBits,node,timestamp
Callable
ConcurrentHashMap(ConcurrentMap Map Serializable) Collection:values Enumeration:elements,keys KeySetView:keySet,newKeySet
  Set:entrySet boolean:contains,containsKey,containsValue,isEmpty double:reduceEntriesToDouble,reduceKeysToDouble,
  reduceToDouble,reduceValuesToDouble int:reduceEntriesToInt,reduceKeysToInt,reduceToInt,reduceValuesToInt,size
  long:mappingCount,reduceEntriesToLong,reduceKeysToLong,reduceToLong,reduceValuesToLong
ConcurrentMap(Map) boolean:remove
CountDownLatch long:getCount
Executor
ExecutorService(Executor) Future:submit List:invokeAll,shutdownNow boolean:awaitTermination,isShutdown,isTerminated
Future boolean:cancel,isCancelled,isDone
TimeUnit(Enum) ChronoUnit:toChronoUnit TimeUnit:of,valueOf TimeUnit[]:values long:convert,toDays,toHours,toMicros,toMillis,
  toMinutes,toNanos,toSeconds
AtomicBoolean(Serializable) boolean:compareAndExchange,compareAndExchangeAcquire,compareAndExchangeRelease,compareAndSet,get,
  getAcquire,getAndSet,getOpaque,getPlain,weakCompareAndSet,weakCompareAndSetAcquire,weakCompareAndSetPlain,
  weakCompareAndSetRelease,weakCompareAndSetVolatile
AtomicInteger(Number Serializable) boolean:compareAndSet,weakCompareAndSet,weakCompareAndSetAcquire,weakCompareAndSetPlain,
  weakCompareAndSetRelease,weakCompareAndSetVolatile double:doubleValue float:floatValue int:accumulateAndGet,addAndGet,
  compareAndExchange,compareAndExchangeAcquire,compareAndExchangeRelease,decrementAndGet,get,getAcquire,getAndAccumulate,
  getAndAdd,getAndDecrement,getAndIncrement,getAndSet,getAndUpdate,getOpaque,getPlain,incrementAndGet,intValue,updateAndGet
  long:longValue
AtomicLong(Number Serializable) boolean:compareAndSet,weakCompareAndSet,weakCompareAndSetAcquire,weakCompareAndSetPlain,
  weakCompareAndSetRelease,weakCompareAndSetVolatile double:doubleValue float:floatValue int:intValue long:accumulateAndGet,
  addAndGet,compareAndExchange,compareAndExchangeAcquire,compareAndExchangeRelease,decrementAndGet,get,getAcquire,
  getAndAccumulate,getAndAdd,getAndDecrement,getAndIncrement,getAndSet,getAndUpdate,getOpaque,getPlain,incrementAndGet,
  longValue,updateAndGet
AtomicReference(Serializable) boolean:compareAndSet,weakCompareAndSet,weakCompareAndSetAcquire,weakCompareAndSetPlain,
  weakCompareAndSetRelease,weakCompareAndSetVolatile
Matcher MatchResult:toMatchResult Matcher:appendReplacement,region,reset,useAnchoringBounds,usePattern,useTransparentBounds
  Pattern:pattern Stream:results String:group,quoteReplacement,replaceAll,replaceFirst boolean:find,hasAnchoringBounds,
  hasTransparentBounds,hitEnd,lookingAt,matches,requireEnd int:end,groupCount,regionEnd,regionStart,start
Pattern(Serializable) Matcher:matcher Pattern:compile Predicate:asMatchPredicate,asPredicate Stream:splitAsStream
  String:pattern,quote String[]:split boolean:matches int:flags
Duration(Comparable Serializable) Duration:abs,between,from,minus,minusDays,minusHours,minusMillis,minusMinutes,minusNanos,
  minusSeconds,multipliedBy,negated,of,ofDays,ofHours,ofMillis,ofMinutes,ofNanos,ofSeconds,parse,plus,plusDays,plusHours,
  plusMillis,plusMinutes,plusNanos,plusSeconds,truncatedTo,withNanos,withSeconds List:getUnits Temporal:addTo,subtractFrom
  boolean:isNegative,isZero int:compareTo,getNano,toHoursPart,toMillisPart,toMinutesPart,toNanosPart,toSecondsPart long:get,
  getSeconds,toDays,toDaysPart,toHours,toMillis,toMinutes,toNanos,toSeconds
Instant(Comparable Serializable) Instant:from,minus,minusMillis,minusNanos,minusSeconds,now,ofEpochMilli,ofEpochSecond,parse,
  plus,plusMillis,plusNanos,plusSeconds,truncatedTo,with OffsetDateTime:atOffset Temporal:adjustInto ValueRange:range
  ZonedDateTime:atZone boolean:isAfter,isBefore,isSupported int:compareTo,get,getNano long:getEpochSecond,getLong,toEpochMilli,
  until
BiConsumer
BiFunction
BiPredicate
BinaryOperator(BiFunction)
Consumer
Function
Predicate
Supplier
UnaryOperator(Function)
BaseStream(AutoCloseable) Iterator:iterator Spliterator:spliterator boolean:isParallel
Stream(BaseStream) Builder:builder DoubleStream:flatMapToDouble,mapMultiToDouble,mapToDouble IntStream:flatMapToInt,
  mapMultiToInt,mapToInt List:toList LongStream:flatMapToLong,mapMultiToLong,mapToLong Optional:findAny,findFirst,max,min
  Stream:concat,distinct,dropWhile,empty,filter,flatMap,generate,limit,map,mapMulti,peek,skip,sorted,takeWhile
  Stream<0>:iterate,of,ofNullable boolean:allMatch,anyMatch,noneMatch long:count
Entry
`;

interface LibraryType {
  bases: readonly string[];
  /** By method. */
  gives: ReadonlyMap<string, string>;
}

const types = new Map(
  written
    .trim()
    .split(/\n(?=\S)/)
    .map(read),
);

function read(text: string): [name: string, type: LibraryType] {
  const [, name = '', bases = '', rest = ''] = /^(\w+)(?:\(([^)]*)\))?(.*)$/s.exec(text) ?? [];
  const gives = new Map<string, string>();
  for (const [, given = '', methods = ''] of rest.matchAll(/([\w[\]$<>,]+):((?:\w+(?:,\s*)?)+)/g))
    for (const method of methods.split(/,\s*/)) gives.set(method, given);
  return [name, { bases: bases.split(' ').filter((each) => each !== ''), gives }];
}

/** `path`: with its package, where that is known. */
export function isOfJdk(name: string, path?: string): boolean {
  return types.has(name) && (path === undefined || path.startsWith('java.'));
}

/** All types that one is based on. */
export function basesInJdk(name: string): ReadonlySet<string> {
  const all = new Set(types.get(name)?.bases);
  for (const each of all) for (const base of types.get(each)?.bases ?? []) all.add(base);
  return all;
}

/** What a method of a type gives, as it is written above. Exceptions have the methods of `Throwable`. */
export function givenInJdk(name: string, method: string, path?: string): string | undefined {
  const known = isOfJdk(name, path) ? name : exceptions.test(name) ? 'Throwable' : undefined;
  if (known === undefined) return undefined;
  for (const each of [known, ...basesInJdk(known), 'Object']) {
    const found = types.get(each)?.gives.get(method);
    if (found !== undefined) return found;
  }
  return undefined;
}

const exceptions = /(?:Exception|Error)$/;
