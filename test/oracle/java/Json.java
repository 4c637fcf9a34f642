import java.util.LinkedHashMap;
import java.util.Map;

/** An object of plain values, in the order in which they were put. */
final class Json {
  private final Map<String, Object> fields = new LinkedHashMap<>();

  /** Null is left out. */
  Json put(String name, Object value) {
    if (value != null) fields.put(name, value);
    return this;
  }

  Object get(String name) {
    return fields.get(name);
  }

  @Override
  public String toString() {
    var text = new StringBuilder("{");
    for (Map.Entry<String, Object> each : fields.entrySet()) {
      if (text.length() > 1) text.append(',');
      text.append('"').append(each.getKey()).append("\":");
      Object value = each.getValue();
      if (value instanceof String string) quote(string, text);
      else text.append(value);
    }
    return text.append('}').toString();
  }

  private static void quote(String value, StringBuilder text) {
    text.append('"');
    for (char each : value.toCharArray()) {
      if (each == '"' || each == '\\') text.append('\\').append(each);
      else if (each < ' ') text.append(String.format("\\u%04x", (int) each));
      else text.append(each);
    }
    text.append('"');
  }
}
