// Writes fields once that several schemas share: `shareParts(components)` puts a schema that begins
// like another together from that one, and names what else recurs. It describes the same types.

const RUN_MIN = 5; // fields in a row
const OBJECT_MIN = 3; // fields of an object inside others

/** Changes the components, by name, and adds the parts that they share. */
export function shareParts(components) {
  shareObjects(components);
  for (let run = longestRun(components); run !== null; run = longestRun(components)) {
    shareRun(run, components);
  }
}

/** A new component of the fields that all these components have. */
export function shareFields(part, names, components) {
  const [first, ...others] = names.map((name) => fieldsOf(components[name]));
  const shared = first.filter((field) => others.every((fields) => fields.includes(field)));
  const places = names.map((name) => ({ name, schema: components[name], fields: first }));
  takeFields(part, shared, places, components);
}

/** An object that stands inside several others becomes a component, the largest first. */
function shareObjects(components) {
  for (let same = repeated(components); same !== undefined; same = repeated(components)) {
    const whole = same.find((place) => components[place.name] === place.schema);
    const name = whole?.name ?? free(`${pascal(same[0].field)}Input`, components);
    components[name] ??= { ...same[0].schema };
    for (const { schema } of same) {
      if (schema !== components[name]) become(schema, { $ref: reference(name) });
    }
  }
}

function repeated(components) {
  const places = new Map();
  for (const place of objects(components)) {
    if (Object.keys(place.schema.properties).length < OBJECT_MIN) continue;
    const text = JSON.stringify(place.schema);
    places.set(text, [...(places.get(text) ?? []), place]);
  }
  const several = [...places].filter(([, same]) => same.length > 1);
  return several.sort(([one], [other]) => other.length - one.length)[0]?.[1];
}

/** The most fields in a row that two objects share, with all objects that have them; or null. */
function longestRun(components) {
  const closed = [...objects(components)].filter((place) => place.schema.additionalProperties === undefined);
  const places = closed.map((place) => ({ ...place, fields: fieldsOf(place.schema) }));
  let longest = [];
  for (const [index, one] of places.entries()) {
    for (const other of places.slice(index + 1)) {
      for (const start of one.fields.keys()) {
        const run = runFrom(start, one.fields, other.fields);
        if (run.length > longest.length) longest = run;
      }
    }
  }
  if (longest.length < RUN_MIN) return null;
  return { fields: longest, places: places.filter((place) => hasRun(longest, place.fields)) };
}

function runFrom(start, fields, others) {
  const at = others.indexOf(fields[start]);
  if (at < 0) return [];
  const end = fields.findIndex((field, index) => index > start && field !== others[at + index - start]);
  return fields.slice(start, end < 0 ? fields.length : end);
}

function hasRun(run, fields) {
  return runFrom(0, run, fields).length === run.length;
}

/** A component that has these fields and no others is the part; otherwise they become one. */
function shareRun({ fields, places }, components) {
  const whole = places.find(
    (place) => components[place.name] === place.schema && place.fields.length === fields.length,
  );
  takeFields(whole?.name ?? free(partName(places), components), fields, places, components);
}

function takeFields(part, fields, places, components) {
  const names = fields.map((field) => JSON.parse(field)[0]);
  components[part] ??= picked(places[0].schema, (field) => names.includes(field));
  for (const { schema } of places.filter((place) => place.schema !== components[part])) {
    const rest = picked(schema, (field) => !names.includes(field));
    const isWhole = Object.keys(rest.properties).length === 0;
    become(schema, isWhole ? { $ref: reference(part) } : { allOf: [{ $ref: reference(part) }, rest] });
  }
}

/** `InvoiceFields` of documents whose names begin alike, `InvoiceInput` of what is sent as `invoice`. */
function partName(places) {
  const sent = places.find((place) => place.field !== null);
  if (sent !== undefined) return `${pascal(sent.field)}Input`;
  const [words, others] = places.map((place) => place.name.split(/(?=[A-Z])/));
  const end = [...words, null].findIndex((word, index) => word !== others[index]);
  return `${(end > 0 ? words.slice(0, end) : [...words, ...others]).join("")}Fields`;
}

/** Every object with fields: `field` is the property that holds it, null of a component itself. */
function* objects(components) {
  for (const [name, schema] of Object.entries(components)) yield* within(schema, name, null);
}

function* within(schema, name, field) {
  if (schema.properties) yield { schema, name, field };
  for (const [inner, value] of Object.entries(schema.properties ?? {})) yield* within(value, name, inner);
  for (const value of [schema.items ?? [], schema.anyOf ?? [], schema.allOf ?? []].flat()) {
    yield* within(value, name, field);
  }
}

function fieldsOf(schema) {
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties);
  return fields.map(([name, value]) => JSON.stringify([name, value, required.has(name)]));
}

function picked(schema, isTaken) {
  const properties = Object.entries(schema.properties).filter(([field]) => isTaken(field));
  const required = (schema.required ?? []).filter(isTaken);
  return { ...schema, properties: Object.fromEntries(properties), required };
}

function become(schema, other) {
  for (const key of Object.keys(schema)) delete schema[key];
  Object.assign(schema, other);
}

function reference(name) {
  return `#/components/schemas/${name}`;
}

function pascal(field) {
  const words = field.replace(/s$/, "").split("_");
  return words.map((word) => word[0].toUpperCase() + word.slice(1)).join("");
}

function free(name, components) {
  for (let number = 2; ; number += 1) {
    if (!(name in components)) return name;
    name = name.replace(/\d*$/, String(number));
  }
}
