export interface Page<Item> {
  data: Item[];
  page: number;
  perPage: number;
  total: number;
  totalPages: number;
}

interface Figures {
  page: number;
  per_page: number;
  total: number;
  total_pages: number;
}

type Listed<Item> = Item[] | { data: Item[]; meta?: Figures; pagination?: Figures };

/** What is listed, newest first. Iterate over all of it, or ask for one page. */
export class List<Item> implements AsyncIterable<Item> {
  readonly #read: (page: number) => Promise<Listed<Item>>;
  readonly #first: number;

  constructor(read: (page: number) => Promise<Listed<Item>>, first = 1) {
    this.#read = read;
    this.#first = first;
  }

  async page(number: number = this.#first): Promise<Page<Item>> {
    const listed = await this.#read(number);
    if (Array.isArray(listed)) return whole(number, listed);
    const figures = listed.meta ?? listed.pagination;
    if (figures === undefined) return whole(number, listed.data);
    const { page, per_page: perPage, total, total_pages: totalPages } = figures;
    return { data: listed.data, page, perPage, total, totalPages };
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Item> {
    let before = new Set<unknown>();
    for (let number = this.#first; ; number += 1) {
      const page = await this.page(number);
      for (const item of page.data) {
        if (!before.has(identity(item))) yield item; // new ones push others onto the next page
      }
      if (number >= page.totalPages) return;
      before = new Set(page.data.map(identity));
    }
  }

  /** At most `limit` of them as an array. */
  toArray({ limit }: { limit: number }): Promise<Item[]> {
    return taken(this, limit);
  }
}

/** What happened, newest first, without an end that is counted. */
export class Feed<Item extends { id: string }> implements AsyncIterable<Item> {
  readonly #read: (before?: string) => Promise<{ data: Item[]; has_more: boolean }>;

  constructor(read: (before?: string) => Promise<{ data: Item[]; has_more: boolean }>) {
    this.#read = read;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Item> {
    for (let before: string | undefined; ; ) {
      const { data, has_more: hasMore } = await this.#read(before);
      yield* data;
      before = data.at(-1)?.id;
      if (!hasMore || before === undefined) return;
    }
  }

  /** At most `limit` of them as an array. */
  toArray({ limit }: { limit: number }): Promise<Item[]> {
    return taken(this, limit);
  }
}

async function taken<Item>(source: AsyncIterable<Item>, limit: number): Promise<Item[]> {
  const items: Item[] = [];
  if (limit < 1) return items;
  for await (const item of source) {
    items.push(item);
    if (items.length >= limit) break;
  }
  return items;
}

/** A list that comes without pages; there is nothing after it. */
function whole<Item>(page: number, data: Item[]): Page<Item> {
  return { data, page, perPage: data.length, total: data.length, totalPages: page };
}

function identity(item: unknown): unknown {
  return (item as { id?: unknown } | null)?.id ?? item;
}
