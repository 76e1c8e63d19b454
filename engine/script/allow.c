/* The classes that scripts may name, and what they have. */
#include "engine/script/allow.h"
#include "engine/script/allow_classes.h"

/* Math and StrictMath have the same. */
#define MATH_MEMBERS                                                                                \
    "static double E;static double PI;static double abs(double);static double acos(double);"        \
    "static double asin(double);static double atan(double);static double atan2(double,double);"     \
    "static double cbrt(double);static double ceil(double);static double copySign(double,double);"  \
    "static double cos(double);static double cosh(double);static double exp(double);"               \
    "static double expm1(double);static double floor(double);static double hypot(double,double);"   \
    "static double IEEEremainder(double,double);static double log(double);"                         \
    "static double log10(double);static double log1p(double);static double max(double,double);"     \
    "static double min(double,double);static double nextAfter(double,double);"                      \
    "static double nextDown(double);static double nextUp(double);static double pow(double,double);" \
    "static double random();static double rint(double);static long round(double);"                  \
    "static double scalb(double,int);static double signum(double);static double sin(double);"       \
    "static double sinh(double);static double sqrt(double);static double tan(double);"              \
    "static double tanh(double);static double toDegrees(double);static double toRadians(double);"   \
    "static double ulp(double);"

static const struct script_class classes[] = {
    {"Object", "", "boolean equals(Object);int hashCode();String toString();"},
    {"CharSequence", "",
     "char charAt(int);IntStream chars();IntStream codePoints();int length();"
     "String replaceAll(Pattern,Function);String replaceFirst(Pattern,Function);"
     "CharSequence subSequence(int,int);String toString();"},
    {"Comparable", "", "int compareTo(def);"},
    {"Iterable", "",
     "void forEach(Consumer);Iterator iterator();Spliterator spliterator();boolean any(Predicate);"
     "Collection asCollection();List asList();def each(Consumer);def eachWithIndex(ObjIntConsumer);"
     "boolean every(Predicate);List findResults(Function);Map groupBy(Function);String join(String);"
     "double sum();double sum(ToDoubleFunction);"},
    {"Number", "",
     "byte byteValue();short shortValue();int intValue();long longValue();float floatValue();"
     "double doubleValue();"},
    {"Boolean", "Comparable",
     "static Boolean TRUE;static Boolean FALSE;boolean booleanValue();"
     "static int compare(boolean,boolean);int compareTo(Boolean);static int hashCode(boolean);"
     "static boolean logicalAnd(boolean,boolean);static boolean logicalOr(boolean,boolean);"
     "static boolean logicalXor(boolean,boolean);static boolean parseBoolean(String);"
     "static String toString(boolean);static Boolean valueOf(boolean);"},
    {"Byte", "Number Comparable",
     "static int BYTES;static byte MAX_VALUE;static byte MIN_VALUE;static int SIZE;"
     "static int compare(byte,byte);int compareTo(Byte);static Byte decode(String);"
     "static int hashCode(byte);static byte parseByte(String);static byte parseByte(String,int);"
     "static String toString(byte);static int toUnsignedInt(byte);static long toUnsignedLong(byte);"
     "static Byte valueOf(byte);static Byte valueOf(String,int);"},
    {"Short", "Number Comparable",
     "static int BYTES;static short MAX_VALUE;static short MIN_VALUE;static int SIZE;"
     "static int compare(short,short);int compareTo(Short);static Short decode(String);"
     "static int hashCode(short);static short parseShort(String);static short parseShort(String,int);"
     "static short reverseBytes(short);static String toString(short);static int toUnsignedInt(short);"
     "static long toUnsignedLong(short);static Short valueOf(short);static Short valueOf(String,int);"},
    {"Character", "Comparable",
     "static char MAX_VALUE;static char MIN_VALUE;static int charCount(int);char charValue();"
     "static int codePointAt(char[],int,int);static int codePointAt(CharSequence,int);"
     "static int codePointBefore(char[],int,int);static int codePointBefore(CharSequence,int);"
     "static int codePointCount(CharSequence,int,int);static int compare(char,char);"
     "int compareTo(Character);static int digit(int,int);static char forDigit(int,int);"
     "static byte getDirectionality(int);static String getName(int);static int getNumericValue(int);"
     "static int getType(int);static int hashCode(char);static char highSurrogate(int);"
     "static boolean isAlphabetic(int);static boolean isBmpCodePoint(int);"
     "static boolean isDefined(int);static boolean isDigit(int);static boolean isHighSurrogate(char);"
     "static boolean isIdentifierIgnorable(int);static boolean isIdeographic(int);"
     "static boolean isISOControl(int);static boolean isJavaIdentifierPart(int);"
     "static boolean isJavaIdentifierStart(int);static boolean isLetter(int);"
     "static boolean isLetterOrDigit(int);static boolean isLowerCase(int);"
     "static boolean isMirrored(int);static boolean isSpaceChar(int);"
     "static boolean isSupplementaryCodePoint(int);static boolean isSurrogate(char);"
     "static boolean isSurrogatePair(char,char);static boolean isTitleCase(int);"
     "static boolean isUnicodeIdentifierPart(int);static boolean isUnicodeIdentifierStart(int);"
     "static boolean isUpperCase(int);static boolean isValidCodePoint(int);"
     "static boolean isWhitespace(int);static char lowSurrogate(int);"
     "static int offsetByCodePoints(char[],int,int,int,int);"
     "static int offsetByCodePoints(CharSequence,int,int);static char reverseBytes(char);"
     "static char[] toChars(int);static int toChars(int,char[],int);static int toCodePoint(char,char);"
     "static char toLowerCase(char);static String toString(char);static char toTitleCase(char);"
     "static char toUpperCase(char);static Character valueOf(char);"},
    {"Integer", "Number Comparable",
     "static int BYTES;static int MAX_VALUE;static int MIN_VALUE;static int SIZE;"
     "static int bitCount(int);static int compare(int,int);int compareTo(Integer);"
     "static int compareUnsigned(int,int);static Integer decode(String);"
     "static int divideUnsigned(int,int);static int hashCode(int);static int highestOneBit(int);"
     "static int lowestOneBit(int);static int max(int,int);static int min(int,int);"
     "static int numberOfLeadingZeros(int);static int numberOfTrailingZeros(int);"
     "static int parseInt(String);static int parseInt(String,int);static int parseUnsignedInt(String);"
     "static int parseUnsignedInt(String,int);static int remainderUnsigned(int,int);"
     "static int reverse(int);static int reverseBytes(int);static int rotateLeft(int,int);"
     "static int rotateRight(int,int);static int signum(int);static String toBinaryString(int);"
     "static String toHexString(int);static String toOctalString(int);static String toString(int);"
     "static String toString(int,int);static long toUnsignedLong(int);"
     "static String toUnsignedString(int);static String toUnsignedString(int,int);"
     "static Integer valueOf(int);static Integer valueOf(String,int);"},
    {"Long", "Number Comparable",
     "static int BYTES;static long MAX_VALUE;static long MIN_VALUE;static int SIZE;"
     "static int bitCount(long);static int compare(long,long);int compareTo(Long);"
     "static int compareUnsigned(long,long);static Long decode(String);"
     "static long divideUnsigned(long,long);static int hashCode(long);static long highestOneBit(long);"
     "static long lowestOneBit(long);static long max(long,long);static long min(long,long);"
     "static int numberOfLeadingZeros(long);static int numberOfTrailingZeros(long);"
     "static long parseLong(String);static long parseLong(String,int);"
     "static long parseUnsignedLong(String);static long parseUnsignedLong(String,int);"
     "static long remainderUnsigned(long,long);static long reverse(long);"
     "static long reverseBytes(long);static long rotateLeft(long,int);"
     "static long rotateRight(long,int);static int signum(long);static long sum(long,long);"
     "static String toBinaryString(long);static String toHexString(long);"
     "static String toOctalString(long);static String toString(long);static String toString(long,int);"
     "static String toUnsignedString(long);static String toUnsignedString(long,int);"
     "static Long valueOf(long);static Long valueOf(String,int);"},
    {"Float", "Number Comparable",
     "static int BYTES;static int MAX_EXPONENT;static float MAX_VALUE;static int MIN_EXPONENT;"
     "static float MIN_NORMAL;static float MIN_VALUE;static float NaN;static float NEGATIVE_INFINITY;"
     "static float POSITIVE_INFINITY;static int SIZE;static int compare(float,float);"
     "int compareTo(Float);static int floatToIntBits(float);static int floatToRawIntBits(float);"
     "static int hashCode(float);static float intBitsToFloat(int);static boolean isFinite(float);"
     "boolean isInfinite();static boolean isInfinite(float);boolean isNaN();"
     "static boolean isNaN(float);static float max(float,float);static float min(float,float);"
     "static float parseFloat(String);static float sum(float,float);static String toHexString(float);"
     "static String toString(float);static Float valueOf(float);"},
    {"Double", "Number Comparable",
     "static int BYTES;static int MAX_EXPONENT;static double MAX_VALUE;static int MIN_EXPONENT;"
     "static double MIN_NORMAL;static double MIN_VALUE;static double NaN;"
     "static double NEGATIVE_INFINITY;static double POSITIVE_INFINITY;static int SIZE;"
     "static int compare(double,double);int compareTo(Double);static long doubleToLongBits(double);"
     "static long doubleToRawLongBits(double);static int hashCode(double);"
     "static boolean isFinite(double);boolean isInfinite();static boolean isInfinite(double);"
     "boolean isNaN();static boolean isNaN(double);static double longBitsToDouble(long);"
     "static double max(double,double);static double min(double,double);"
     "static double parseDouble(String);static double sum(double,double);"
     "static String toHexString(double);static String toString(double);static Double valueOf(double);"},
    {"String", "Comparable CharSequence",
     "new();int codePointAt(int);int codePointBefore(int);int codePointCount(int,int);"
     "int compareTo(String);int compareToIgnoreCase(String);String concat(String);"
     "boolean contains(CharSequence);boolean contentEquals(CharSequence);"
     "static String copyValueOf(char[]);static String copyValueOf(char[],int,int);"
     "String decodeBase64();String encodeBase64();String[] splitOnToken(String);"
     "String[] splitOnToken(String,int);boolean endsWith(String);boolean equalsIgnoreCase(String);"
     "static String format(Locale,String,def[]);static String format(String,def[]);"
     "void getChars(int,int,char[],int);int indexOf(String);int indexOf(String,int);boolean isEmpty();"
     "static String join(CharSequence,Iterable);int lastIndexOf(String);int lastIndexOf(String,int);"
     "int offsetByCodePoints(int,int);boolean regionMatches(boolean,int,String,int,int);"
     "boolean regionMatches(int,String,int,int);String replace(CharSequence,CharSequence);"
     "boolean startsWith(String);boolean startsWith(String,int);String substring(int);"
     "String substring(int,int);char[] toCharArray();String toLowerCase();String toLowerCase(Locale);"
     "String toUpperCase();String toUpperCase(Locale);String trim();static String valueOf(def);"},
    {"StringBuilder", "Comparable CharSequence",
     "new();new(CharSequence);StringBuilder append(def);StringBuilder append(CharSequence,int,int);"
     "StringBuilder appendCodePoint(int);int capacity();int codePointAt(int);int codePointBefore(int);"
     "int codePointCount(int,int);StringBuilder delete(int,int);StringBuilder deleteCharAt(int);"
     "void getChars(int,int,char[],int);int indexOf(String);int indexOf(String,int);"
     "StringBuilder insert(int,def);int lastIndexOf(String);int lastIndexOf(String,int);"
     "int offsetByCodePoints(int,int);StringBuilder replace(int,int,String);StringBuilder reverse();"
     "void setCharAt(int,char);void setLength(int);String substring(int);String substring(int,int);"
     "Appendable append(CharSequence,int,int);"},
    {"StringBuffer", "Comparable CharSequence",
     "new();new(CharSequence);StringBuffer append(def);StringBuffer append(CharSequence,int,int);"
     "StringBuffer appendCodePoint(int);int capacity();int codePointAt(int);int codePointBefore(int);"
     "int codePointCount(int,int);StringBuffer delete(int,int);StringBuffer deleteCharAt(int);"
     "void getChars(int,int,char[],int);int indexOf(String);int indexOf(String,int);"
     "StringBuffer insert(int,def);int lastIndexOf(String);int lastIndexOf(String,int);"
     "int offsetByCodePoints(int,int);StringBuffer replace(int,int,String);StringBuffer reverse();"
     "void setCharAt(int,char);void setLength(int);String substring(int);String substring(int,int);"
     "Appendable append(CharSequence,int,int);"},
    {"Math", "", MATH_MEMBERS},
    {"StrictMath", "", MATH_MEMBERS},
    {"System", "",
     "static void arraycopy(Object,int,Object,int,int);static long currentTimeMillis();"
     "static long nanoTime();"},
    {"Exception", "",
     "new();new(String);String getLocalizedMessage();String getMessage();"
     "StackTraceElement[] getStackTrace();"},
    {"RuntimeException", "Exception", "new();new(String);"},
    {"IllegalArgumentException", "RuntimeException", "new();new(String);"},
    {"IllegalStateException", "RuntimeException", "new();new(String);"},
    {"ArithmeticException", "RuntimeException", "new();new(String);"},
    {"NumberFormatException", "IllegalArgumentException", "new();new(String);"},
    {"NullPointerException", "RuntimeException", "new();new(String);"},
    {"ClassCastException", "RuntimeException", "new();new(String);"},
    {"IndexOutOfBoundsException", "RuntimeException", "new();new(String);"},
    {"UnsupportedOperationException", "RuntimeException", "new();new(String);"},
    {"DateTimeException", "RuntimeException", "new(String);"},
    {"Collection", "Iterable",
     "boolean add(def);boolean addAll(Collection);void clear();boolean contains(def);"
     "boolean containsAll(Collection);boolean isEmpty();boolean removeAll(Collection);"
     "boolean removeIf(Predicate);boolean retainAll(Collection);int size();Spliterator spliterator();"
     "Stream stream();def[] toArray();def[] toArray(def[]);List collect(Function);"
     "def collect(Collection,Function);def find(Predicate);List findAll(Predicate);"
     "def findResult(Function);def findResult(def,Function);List split(Predicate);"},
    {"List", "Collection",
     "void add(int,def);boolean addAll(int,Collection);boolean equals(Object);def get(int);"
     "int hashCode();int indexOf(def);int lastIndexOf(def);ListIterator listIterator();"
     "ListIterator listIterator(int);def remove(int);void replaceAll(UnaryOperator);def set(int,def);"
     "int getLength();void sort(Comparator);List subList(int,int);Object getByPath(String);"
     "Object getByPath(String,Object);"},
    {"ArrayList", "List", "new();new(Collection);def clone();void trimToSize();"},
    {"LinkedList", "List",
     "new();new(Collection);def clone();void addFirst(def);void addLast(def);"
     "Iterator descendingIterator();def getFirst();def getLast();boolean offerFirst(def);"
     "boolean offerLast(def);def peekFirst();def peekLast();def pollFirst();def pollLast();def pop();"
     "void push(def);boolean remove(def);def removeFirst();boolean removeFirstOccurrence(def);"
     "def removeLast();boolean removeLastOccurrence(def);def element();boolean offer(def);def peek();"
     "def poll();def remove();"},
    {"Set", "Collection", "boolean equals(Object);int hashCode();boolean remove(def);"},
    {"SortedSet", "Set",
     "Comparator comparator();def first();SortedSet headSet(def);def last();SortedSet subSet(def,def);"
     "SortedSet tailSet(def);"},
    {"NavigableSet", "SortedSet",
     "def ceiling(def);Iterator descendingIterator();NavigableSet descendingSet();def floor(def);"
     "NavigableSet headSet(def,boolean);def higher(def);def lower(def);def pollFirst();def pollLast();"
     "NavigableSet subSet(def,boolean,def,boolean);NavigableSet tailSet(def,boolean);"},
    {"HashSet", "Set", "new();new(Collection);def clone();"},
    {"LinkedHashSet", "HashSet", "new();new(Collection);"},
    {"TreeSet", "NavigableSet", "new();new(Comparator);def clone();"},
    {"Map", "",
     "void clear();def compute(def,BiFunction);def computeIfAbsent(def,Function);"
     "def computeIfPresent(def,BiFunction);boolean containsKey(def);boolean containsValue(def);"
     "Set entrySet();boolean equals(Object);void forEach(BiConsumer);def get(def);"
     "def getOrDefault(def,def);boolean isEmpty();Set keySet();def merge(def,def,BiFunction);"
     "def put(def,def);void putAll(Map);def putIfAbsent(def,def);def remove(def);"
     "boolean remove(def,def);def replace(def,def);boolean replace(def,def,def);"
     "void replaceAll(BiFunction);int size();Collection values();Object getByPath(String);"
     "Object getByPath(String,Object);List collect(BiFunction);def collect(Collection,BiFunction);"
     "int count(BiPredicate);def each(BiConsumer);boolean every(BiPredicate);"
     "Map.Entry find(BiPredicate);Map findAll(BiPredicate);def findResult(BiFunction);"
     "def findResult(def,BiFunction);List findResults(BiFunction);Map groupBy(BiFunction);"},
    {"SortedMap", "Map",
     "Comparator comparator();def firstKey();SortedMap headMap(def);def lastKey();"
     "SortedMap subMap(def,def);SortedMap tailMap(def);"},
    {"NavigableMap", "SortedMap",
     "Map.Entry ceilingEntry(def);def ceilingKey(def);NavigableSet descendingKeySet();"
     "NavigableMap descendingMap();Map.Entry firstEntry();Map.Entry floorEntry(def);def floorKey(def);"
     "NavigableMap headMap(def,boolean);Map.Entry higherEntry(def);def higherKey(def);"
     "Map.Entry lastEntry();Map.Entry lowerEntry(def);NavigableSet navigableKeySet();"
     "Map.Entry pollFirstEntry();Map.Entry pollLastEntry();"
     "NavigableMap subMap(def,boolean,def,boolean);NavigableMap tailMap(def,boolean);"},
    {"HashMap", "Map", "new();new(Map);def clone();"},
    {"LinkedHashMap", "HashMap", "new();new(Map);"},
    {"TreeMap", "NavigableMap", "new();new(Comparator);def clone();"},
    {"Map.Entry", "",
     "static Comparator comparingByKey();static Comparator comparingByKey(Comparator);"
     "static Comparator comparingByValue();static Comparator comparingByValue(Comparator);"
     "boolean equals(Object);def getKey();def getValue();int hashCode();def setValue(def);"},
    {"Iterator", "", "void forEachRemaining(Consumer);boolean hasNext();def next();void remove();"},
    {"Objects", "",
     "static int compare(def,def,Comparator);static boolean deepEquals(Object,Object);"
     "static boolean equals(Object,Object);static int hash(Object[]);static int hashCode(Object);"
     "static boolean isNull(Object);static boolean nonNull(Object);static def requireNonNull(def);"
     "static def requireNonNull(def,String);static String toString(Object);"
     "static String toString(Object,String);"},
    {"Collections", "",
     "static List EMPTY_LIST;static Map EMPTY_MAP;static Set EMPTY_SET;"
     "static boolean addAll(Collection,def[]);static Queue asLifoQueue(Deque);"
     "static int binarySearch(List,def);static int binarySearch(List,def,Comparator);"
     "static void copy(List,List);static boolean disjoint(Collection,Collection);"
     "static Enumeration emptyEnumeration();static Iterator emptyIterator();static List emptyList();"
     "static ListIterator emptyListIterator();static Map emptyMap();"
     "static NavigableMap emptyNavigableMap();static NavigableSet emptyNavigableSet();"
     "static Set emptySet();static SortedMap emptySortedMap();static SortedSet emptySortedSet();"
     "static Enumeration enumeration(Collection);static void fill(List,def);"
     "static int frequency(Collection,def);static int indexOfSubList(List,List);"
     "static int lastIndexOfSubList(List,List);static ArrayList list(Enumeration);"
     "static def max(Collection);static def max(Collection,Comparator);static def min(Collection);"
     "static def min(Collection,Comparator);static List nCopies(int,def);"
     "static Set newSetFromMap(Map);static boolean replaceAll(List,def,def);static void reverse(List);"
     "static Comparator reverseOrder();static Comparator reverseOrder(Comparator);"
     "static void rotate(List,int);static void shuffle(List);static void shuffle(List,Random);"
     "static Set singleton(def);static List singletonList(def);static Map singletonMap(def,def);"
     "static void sort(List);static void sort(List,Comparator);static void swap(List,int,int);"
     "static Collection unmodifiableCollection(Collection);static List unmodifiableList(List);"
     "static Map unmodifiableMap(Map);static NavigableMap unmodifiableNavigableMap(NavigableMap);"
     "static NavigableSet unmodifiableNavigableSet(NavigableSet);static Set unmodifiableSet(Set);"
     "static SortedMap unmodifiableSortedMap(SortedMap);"
     "static SortedSet unmodifiableSortedSet(SortedSet);"},
    {"Arrays", "",
     "static List asList(Object[]);static boolean deepEquals(Object[],Object[]);"
     "static int deepHashCode(Object[]);static String deepToString(Object[]);"},
    {"Comparator", "",
     "int compare(def,def);static Comparator comparing(Function);"
     "static Comparator comparing(Function,Comparator);"
     "static Comparator comparingDouble(ToDoubleFunction);"
     "static Comparator comparingInt(ToIntFunction);static Comparator comparingLong(ToLongFunction);"
     "boolean equals(Object);static Comparator naturalOrder();"
     "static Comparator nullsFirst(Comparator);static Comparator nullsLast(Comparator);"
     "Comparator reversed();static Comparator reverseOrder();Comparator thenComparing(Comparator);"
     "Comparator thenComparing(Function,Comparator);Comparator thenComparingDouble(ToDoubleFunction);"
     "Comparator thenComparingInt(ToIntFunction);Comparator thenComparingLong(ToLongFunction);"},
    {"Optional", "",
     "static Optional empty();Optional filter(Predicate);Optional flatMap(Function);def get();"
     "void ifPresent(Consumer);boolean isPresent();Optional map(Function);static Optional of(def);"
     "static Optional ofNullable(def);def orElse(def);def orElseGet(Supplier);"
     "def orElseThrow(Supplier);"},
    {"OptionalDouble", "",
     "static OptionalDouble empty();double getAsDouble();void ifPresent(DoubleConsumer);"
     "boolean isPresent();static OptionalDouble of(double);double orElse(double);"
     "double orElseGet(DoubleSupplier);double orElseThrow(Supplier);"},
    {"OptionalInt", "",
     "static OptionalInt empty();int getAsInt();void ifPresent(IntConsumer);boolean isPresent();"
     "static OptionalInt of(int);int orElse(int);int orElseGet(IntSupplier);int orElseThrow(Supplier);"},
    {"OptionalLong", "",
     "static OptionalLong empty();long getAsLong();void ifPresent(LongConsumer);boolean isPresent();"
     "static OptionalLong of(long);long orElse(long);long orElseGet(LongSupplier);"
     "long orElseThrow(Supplier);"},
    {"BaseStream", "",
     "void close();boolean isParallel();Iterator iterator();BaseStream sequential();"
     "Spliterator spliterator();BaseStream unordered();"},
    {"Stream", "BaseStream",
     "boolean allMatch(Predicate);boolean anyMatch(Predicate);static Stream.Builder builder();"
     "def collect(Collector);def collect(Supplier,BiConsumer,BiConsumer);"
     "static Stream concat(Stream,Stream);long count();Stream distinct();static Stream empty();"
     "Stream filter(Predicate);Optional findAny();Optional findFirst();Stream flatMap(Function);"
     "DoubleStream flatMapToDouble(Function);IntStream flatMapToInt(Function);"
     "LongStream flatMapToLong(Function);void forEach(Consumer);void forEachOrdered(Consumer);"
     "Stream limit(long);Stream map(Function);DoubleStream mapToDouble(ToDoubleFunction);"
     "IntStream mapToInt(ToIntFunction);LongStream mapToLong(ToLongFunction);Optional max(Comparator);"
     "Optional min(Comparator);boolean noneMatch(Predicate);static Stream of(def[]);"
     "Stream peek(Consumer);Optional reduce(BinaryOperator);def reduce(def,BinaryOperator);"
     "def reduce(def,BiFunction,BinaryOperator);Stream skip(long);Stream sorted();"
     "Stream sorted(Comparator);def[] toArray();def[] toArray(IntFunction);"},
    {"IntStream", "BaseStream",
     "boolean allMatch(IntPredicate);boolean anyMatch(IntPredicate);DoubleStream asDoubleStream();"
     "LongStream asLongStream();OptionalDouble average();Stream boxed();"
     "static IntStream.Builder builder();def collect(Supplier,ObjIntConsumer,BiConsumer);"
     "static IntStream concat(IntStream,IntStream);long count();IntStream distinct();"
     "static IntStream empty();IntStream filter(IntPredicate);OptionalInt findAny();"
     "OptionalInt findFirst();IntStream flatMap(IntFunction);void forEach(IntConsumer);"
     "void forEachOrdered(IntConsumer);PrimitiveIterator.OfInt iterator();IntStream limit(long);"
     "IntStream map(IntUnaryOperator);DoubleStream mapToDouble(IntToDoubleFunction);"
     "LongStream mapToLong(IntToLongFunction);Stream mapToObj(IntFunction);OptionalInt max();"
     "OptionalInt min();boolean noneMatch(IntPredicate);static IntStream of(int[]);"
     "IntStream peek(IntConsumer);static IntStream range(int,int);"
     "static IntStream rangeClosed(int,int);OptionalInt reduce(IntBinaryOperator);"
     "int reduce(int,IntBinaryOperator);IntStream sequential();IntStream skip(long);"
     "IntStream sorted();Spliterator.OfInt spliterator();int sum();"
     "IntSummaryStatistics summaryStatistics();int[] toArray();"},
    {"LongStream", "BaseStream",
     "boolean allMatch(LongPredicate);boolean anyMatch(LongPredicate);DoubleStream asDoubleStream();"
     "OptionalDouble average();Stream boxed();static LongStream.Builder builder();"
     "def collect(Supplier,ObjLongConsumer,BiConsumer);"
     "static LongStream concat(LongStream,LongStream);long count();LongStream distinct();"
     "static LongStream empty();LongStream filter(LongPredicate);OptionalLong findAny();"
     "OptionalLong findFirst();LongStream flatMap(LongFunction);void forEach(LongConsumer);"
     "void forEachOrdered(LongConsumer);PrimitiveIterator.OfLong iterator();LongStream limit(long);"
     "LongStream map(LongUnaryOperator);DoubleStream mapToDouble(LongToDoubleFunction);"
     "IntStream mapToInt(LongToIntFunction);Stream mapToObj(LongFunction);OptionalLong max();"
     "OptionalLong min();boolean noneMatch(LongPredicate);static LongStream of(long[]);"
     "LongStream peek(LongConsumer);static LongStream range(long,long);"
     "static LongStream rangeClosed(long,long);OptionalLong reduce(LongBinaryOperator);"
     "long reduce(long,LongBinaryOperator);LongStream sequential();LongStream skip(long);"
     "LongStream sorted();Spliterator.OfLong spliterator();long sum();"
     "LongSummaryStatistics summaryStatistics();long[] toArray();"},
    {"DoubleStream", "BaseStream",
     "boolean allMatch(DoublePredicate);boolean anyMatch(DoublePredicate);OptionalDouble average();"
     "Stream boxed();static DoubleStream.Builder builder();"
     "def collect(Supplier,ObjDoubleConsumer,BiConsumer);"
     "static DoubleStream concat(DoubleStream,DoubleStream);long count();DoubleStream distinct();"
     "static DoubleStream empty();DoubleStream filter(DoublePredicate);OptionalDouble findAny();"
     "OptionalDouble findFirst();DoubleStream flatMap(DoubleFunction);void forEach(DoubleConsumer);"
     "void forEachOrdered(DoubleConsumer);PrimitiveIterator.OfDouble iterator();"
     "DoubleStream limit(long);DoubleStream map(DoubleUnaryOperator);"
     "IntStream mapToInt(DoubleToIntFunction);LongStream mapToLong(DoubleToLongFunction);"
     "Stream mapToObj(DoubleFunction);OptionalDouble max();OptionalDouble min();"
     "boolean noneMatch(DoublePredicate);static DoubleStream of(double[]);"
     "DoubleStream peek(DoubleConsumer);OptionalDouble reduce(DoubleBinaryOperator);"
     "double reduce(double,DoubleBinaryOperator);DoubleStream sequential();DoubleStream skip(long);"
     "DoubleStream sorted();Spliterator.OfDouble spliterator();double sum();"
     "DoubleSummaryStatistics summaryStatistics();double[] toArray();"},
    {"Collectors", "",
     "static Collector averagingDouble(ToDoubleFunction);static Collector averagingInt(ToIntFunction);"
     "static Collector averagingLong(ToLongFunction);"
     "static Collector collectingAndThen(Collector,Function);static Collector counting();"
     "static Collector groupingBy(Function);static Collector groupingBy(Function,Collector);"
     "static Collector groupingBy(Function,Supplier,Collector);static Collector joining();"
     "static Collector joining(CharSequence);"
     "static Collector joining(CharSequence,CharSequence,CharSequence);"
     "static Collector mapping(Function,Collector);static Collector maxBy(Comparator);"
     "static Collector minBy(Comparator);static Collector partitioningBy(Predicate);"
     "static Collector partitioningBy(Predicate,Collector);static Collector reducing(BinaryOperator);"
     "static Collector reducing(def,BinaryOperator);"
     "static Collector reducing(def,Function,BinaryOperator);"
     "static Collector summarizingDouble(ToDoubleFunction);"
     "static Collector summarizingInt(ToIntFunction);static Collector summarizingLong(ToLongFunction);"
     "static Collector summingDouble(ToDoubleFunction);static Collector summingInt(ToIntFunction);"
     "static Collector summingLong(ToLongFunction);static Collector toCollection(Supplier);"
     "static Collector toList();static Collector toMap(Function,Function);"
     "static Collector toMap(Function,Function,BinaryOperator);"
     "static Collector toMap(Function,Function,BinaryOperator,Supplier);static Collector toSet();"},
    {"Pattern", "",
     "Predicate asPredicate();int flags();Matcher matcher(CharSequence);String pattern();"
     "static String quote(String);String[] split(CharSequence);String[] split(CharSequence,int);"
     "Stream splitAsStream(CharSequence);"},
    {"Matcher", "",
     "int end();int end(int);boolean find();boolean find(int);String group();String group(int);"
     "String namedGroup(String);int groupCount();boolean hasAnchoringBounds();"
     "boolean hasTransparentBounds();boolean hitEnd();boolean lookingAt();boolean matches();"
     "Pattern pattern();static String quoteReplacement(String);Matcher region(int,int);"
     "int regionEnd();int regionStart();String replaceAll(String);String replaceFirst(String);"
     "boolean requireEnd();Matcher reset();int start();int start(int);"
     "Matcher useAnchoringBounds(boolean);Matcher usePattern(Pattern);"
     "Matcher useTransparentBounds(boolean);"},
    {"GeoPoint", "", "double getLat();double getLon();"},
    {"MovingFunctions", "",
     "static double max(double[]);static double min(double[]);static double sum(double[]);"
     "static double stdDev(double[],double);static double unweightedAvg(double[]);"
     "static double linearWeightedAvg(double[]);static double ewma(double[],double);"
     "static double holt(double[],double,double);"
     "static double holtWinters(double[],double,double,double,int,boolean);"},
    {"Function", "",
     "Function andThen(Function);def apply(def);Function compose(Function);static Function identity();"},
    {"BiFunction", "", "BiFunction andThen(Function);def apply(def,def);"},
    {"Predicate", "",
     "Predicate and(Predicate);static Predicate isEqual(def);Predicate negate();"
     "Predicate or(Predicate);boolean test(def);"},
    {"Consumer", "", "void accept(def);Consumer andThen(Consumer);"},
    {"Supplier", "", "def get();"},
    {"#score", "",
     "static double saturation(double,double);static double sigmoid(double,double,double);"
     "static double acosh(double);static double asinh(double);static double atanh(double);"
     "static double logn(double,double);static double haversin(double,double,double,double);"
     "static double dotProduct(List,Object);static double cosineSimilarity(List,Object);"
     "static double l1norm(List,Object);static double l2norm(List,Object);"
     "static double randomScore(int,String);static double randomScore(int);"
     "static double decayGeoLinear(String,String,String,double,GeoPoint);"
     "static double decayGeoExp(String,String,String,double,GeoPoint);"
     "static double decayGeoGauss(String,String,String,double,GeoPoint);"
     "static double decayNumericLinear(double,double,double,double,double);"
     "static double decayNumericExp(double,double,double,double,double);"
     "static double decayNumericGauss(double,double,double,double,double);"
     "static double decayDateLinear(String,String,String,double,JodaCompatibleZonedDateTime);"
     "static double decayDateExp(String,String,String,double,JodaCompatibleZonedDateTime);"
     "static double decayDateGauss(String,String,String,double,JodaCompatibleZonedDateTime);"}};

static const struct script_class *class_at(size_t i)
{
    return i < ARRAY_LEN(classes) ? &classes[i] : &allow_time[i - ARRAY_LEN(classes)];
}

static size_t class_named(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(classes) + allow_time_n; i++) {
        if (str_is(name, class_at(i)->name)) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* What has primitives is their box. */
static size_t class_of(struct type t)
{
    if (type_is_primitive(t.id)) {
        t = (struct type){.id = (enum type_id)(TYPE_BOX_BOOLEAN + (int)(t.id - TYPE_BOOLEAN))};
    }
    return t.dims > 0 ? SIZE_MAX : class_named(str_of(type_written(t).s));
}

bool allow_class(struct type t)
{
    return class_of(t) != SIZE_MAX;
}

static struct type type_in(struct str text)
{
    uint8_t dims = 0;
    while (str_ends(text, STR("[]"))) {
        text = str_slice(text, 0, text.n - 2);
        dims++;
    }
    struct type t = type_called(text);
    t.dims = dims;
    return t.id == TYPE_NONE ? (struct type){.id = TYPE_NONE} : t;
}

/* The part of `text` up to the sign, which is taken off it as well. */
static struct str part(struct str *text, char sign)
{
    size_t end = str_find(*text, sign, 0);
    struct str head = end == SIZE_MAX ? *text : str_slice(*text, 0, end);
    *text = end == SIZE_MAX ? STR_NULL : str_slice(*text, end + 1, text->n);
    return head;
}

/* Fills in the types of a member "TYPE name(arguments)"; false when it has another count of arguments. */
static bool allowed_fits(struct str gives, struct str arguments, uint32_t argc, struct allowed *out)
{
    *out = (struct allowed){.gives = type_in(gives)};
    if (out->gives.id == TYPE_NONE) {
        out->gives = (struct type){.id = TYPE_DEF};
    }
    while (arguments.n > 0 && out->n < ALLOW_ARGS) {
        out->takes[out->n++] = type_in(part(&arguments, ','));
    }
    return out->n == argc;
}

static bool find_in(size_t class, enum allow_what what, struct str name, uint32_t argc, struct allowed *out)
{
    struct str rest = str_of(class_at(class)->members);
    while (rest.n > 0) {
        struct str member = part(&rest, ';');
        bool field = str_find(member, '(', 0) == SIZE_MAX, made = str_starts(member, STR("new("));
        bool fixed = str_starts(member, STR("static "));
        enum allow_what is = field ? ALLOW_FIELD : made ? ALLOW_NEW : fixed ? ALLOW_STATIC : ALLOW_METHOD;
        if (is != what) {
            continue;
        }
        struct str gives = STR_NULL, called;
        if (fixed) {
            part(&member, ' ');
        }
        if (!made) {
            gives = part(&member, ' ');
        }
        called = part(&member, '(');
        member = field ? member : str_slice(member, 0, member.n - 1);
        if ((made || str_eq(called, name)) && allowed_fits(gives, member, argc, out)) {
            return true;
        }
    }
    return false;
}

static bool allowed_find(size_t class, enum allow_what what, struct str name, uint32_t argc,
                         struct allowed *out)
{
    if (class == SIZE_MAX) {
        return false;
    }
    if (find_in(class, what, name, argc, out)) {
        return true;
    }
    struct str above = str_of(class_at(class)->above);
    while (what == ALLOW_METHOD && above.n > 0) {
        if (allowed_find(class_named(part(&above, ' ')), what, name, argc, out)) {
            return true;
        }
    }
    return false;
}

bool allow_find(struct type of, enum allow_what what, struct str name, uint32_t argc, struct allowed *out)
{
    size_t class = class_of(of);
    return allowed_find(class, what, name, argc, out)
           || (class != SIZE_MAX && what == ALLOW_METHOD
               && find_in(class_named(STR("Object")), what, name, argc, out));
}

bool allow_score_function(struct str name, uint32_t argc, struct allowed *out)
{
    return allowed_find(class_named(STR("#score")), ALLOW_STATIC, name, argc, out);
}

static bool descends(size_t from, size_t to)
{
    if (from == to || from == SIZE_MAX) {
        return from == to;
    }
    struct str above = str_of(class_at(from)->above);
    while (above.n > 0) {
        if (descends(class_named(part(&above, ' ')), to)) {
            return true;
        }
    }
    return false;
}

bool allow_descends(struct type from, struct type to)
{
    struct type object = type_called(STR("Object"));
    if (type_same(from, to) || type_same(to, object)) {
        return true;
    }
    if (from.dims > 0 || to.dims > 0) { /* arrays of references are as their elements */
        bool both = from.dims > 0 && to.dims > 0;
        bool bare =
            (from.dims == 1 && type_is_primitive(from.id)) || (to.dims == 1 && type_is_primitive(to.id));
        from.dims--;
        to.dims--;
        return both && !bare && allow_descends(from, to);
    }
    size_t a = class_of(from), b = class_of(to);
    return a == SIZE_MAX || b == SIZE_MAX || descends(a, b);
}
