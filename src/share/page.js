'use strict';
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => root.querySelectorAll(selector);
  const main = one('main');

  // Light or dark.
  const theme = one('#theme');
  theme.hidden = false;
  theme.addEventListener('click', () => {
    const root = document.documentElement;
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    const now = root.dataset.theme || (dark ? 'dark' : 'light');
    root.dataset.theme = now === 'dark' ? 'light' : 'dark';
  });

  // Code is divided into comments, strings, numbers and words that its language reserves; the rest stays as it is.
  const list = text => new Set(text.split(' '));
  const common = list('abstract and as async await break case catch class const constexpr continue def default defer delete do ' +
    'dyn elif else end enum except export extends extern false final finally fn for foreach from func function go goto if impl ' +
    'implements import in include inline instanceof interface is lambda let loop match mod module move mut namespace new nil not ' +
    'null of operator or override package pass private protected pub public raise readonly ref return self sizeof static struct ' +
    'super switch template then this throw throws trait true try type typedef typeof undefined union unless unsafe use using val ' +
    'var virtual void volatile when where while with yield False None Self True bool boolean byte char double float int long ' +
    'short str string u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 number any never unknown object');
  const reserved = {
    shell: list('case do done elif else esac exit export fi for function if in local return select set shift then unset until while ' +
      'cd echo eval exec source test trap'),
    sql: list('add all alter and as asc begin between by case cascade check column commit constraint create cross default delete ' +
      'desc distinct drop else end exists false foreign from full group having if in index inner insert into is join key left ' +
      'like limit not null offset on or order outer primary references returning right rollback select set table then true ' +
      'union unique update using values view when where with'),
    data: list('true false null yes no on off'),
  };
  const text = r => r.source;
  // Their length is bounded, so that what never ends is not looked for from each of many quotation marks.
  const quoted = text(/"(?:[^"\\\n]|\\[^]){0,4000}"|'(?:[^'\\\n]|\\[^]){0,4000}'|`(?:[^`\\]|\\[^]){0,4000}`/);
  const slashes = text(/\/\/[^\n]*|\/\*[^]*?(?:\*\/|(?![^]))/), hash = text(/#[^\n]*/);
  const word = text(/[A-Za-z_]\w*/);
  // Of each kind of language: comments, strings, words, and what looks like the beginning of a comment and is none.
  const kinds = {
    usual: [slashes, quoted, word],
    rust: [slashes, text(/b?r(?<h>#*)"[^]*?(?:"\k<h>|(?![^]))|b?"(?:[^"\\]|\\[^]){0,4000}"|b?'(?:\\[^\n][^'\n]{0,9}|[^'\\\n])'/), word],
    python: [hash, text(/"""[^]*?(?:"""|(?![^]))|'{3}[^]*?(?:'{3}|(?![^]))/) + '|' + quoted, word],
    hash: [hash, quoted, word, text(/[^\s\w"'`;(]#/)],
    shell: [hash, text(/"(?:[^"\\]|\\[^]){0,4000}"|'[^']{0,4000}'/), word, text(/[^\s\w"'`;(]#|\\[^]|[\w.\/-]*[.\/-][\w.\/-]*/)],
    data: [hash, quoted, word, text(/[^\s\w"'`;(]#/)],
    json: [slashes, quoted, word],
    sql: [text(/--[^\n]*|\/\*[^]*?(?:\*\/|(?![^]))/), text(/'[^']{0,4000}'/), word],
    style: [text(/\/\*[^]*?(?:\*\/|(?![^]))/), quoted, text(/@[\w-]+|![\w-]+/)],
    markup: [text(/<!-\-[^]*?(?:-\->|(?![^]))/), quoted, text(/<\/?[A-Za-z][\w:-]*/)],
  };
  const names = {
    rust: 'rust rs', python: 'python py python3', shell: 'bash sh shell zsh fish ksh', json: 'json json5 jsonc jsonl',
    hash: 'ruby rb perl pl r elixir ex nix powershell ps1 makefile make dockerfile docker julia cmake tcl',
    data: 'toml yaml yml ini conf', sql: 'sql lua haskell hs', style: 'css', markup: 'html xml svg vue svelte',
    '': 'text txt plain plaintext none console output log md markdown',
  };
  const kindOf = {};
  for (const kind in names) for (const name of names[kind].split(' ')) kindOf[name] = kind;
  const known = {};
  // Lines of a file may begin with their numbers, as a tool has read them.
  const numbered = /^ *\d+[\u2192\t]/;
  const tokens = (kind, isNumbered) => known[kind + isNumbered] ??= (() => {
    const [comment, string, name, none = '(?!)'] = kinds[kind];
    const number = text(/\b(?:0[xXoObB][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)\w*\b/);
    const before = isNumbered ? '^ *\\d+[\\u2192\\t]|' : '';
    return new RegExp(`(?<none>${none})|(?<c>${before}${comment})|(?<s>${string})|(?<n>${number})|(?<w>${name})`, 'gm');
  })();
  const coloured = (code, kind) => {
    const out = document.createDocumentFragment();
    const isSql = kind === 'sql';
    const words = kind === 'data' || kind === 'json' ? reserved.data : reserved[kind] || common;
    let at = 0;
    for (const { 0: found, index, groups } of code.matchAll(tokens(kind, numbered.test(code)))) {
      const isWord = groups.w && (kind === 'style' || kind === 'markup' || words.has(isSql ? found.toLowerCase() : found));
      const name = groups.c ? 'c' : groups.s ? 's' : groups.n ? 'n' : isWord ? 'w' : '';
      if (!name) continue;
      out.append(code.slice(at, index));
      const span = document.createElement('span');
      span.className = name;
      span.textContent = found;
      out.append(span);
      at = index + found.length;
    }
    out.append(code.slice(at));
    return out;
  };
  const mostColoured = 60000;
  const isColoured = new WeakSet();
  const colour = code => {
    const kind = kindOf[code.dataset.language] ?? 'usual';
    if (isColoured.has(code) || !kind || code.textContent.length > mostColoured) return;
    isColoured.add(code);
    if (code.tagName === 'PRE') {
      code.firstChild.replaceChildren(coloured(code.textContent, kind));
      return;
    }
    // Lines of a diff, each behind its sign; those that stay as they are, together.
    for (const part of [...code.childNodes]) {
      const line = part.textContent;
      if (part.nodeType === 3) part.replaceWith(coloured(line, kind));
      else if (part.tagName !== 'I') part.replaceChildren(line[0], coloured(line.slice(1), kind));
    }
  };
  const colourIn = element => {
    for (const code of all('[data-language]', element)) if (!code.closest('details:not([open])')) colour(code);
  };

  // What comes into view, or is unfolded, gets its colours, and times are in the reader's zone.
  const zone = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  const show = entry => {
    for (const time of all('time', entry)) {
      const date = new Date(time.dateTime);
      if (!isNaN(date) && !time.title) { time.title = time.textContent; time.textContent = zone.format(date); }
    }
    colourIn(entry);
  };
  const seen = new IntersectionObserver(entries => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) { seen.unobserve(target); show(target); }
    }
  }, { rootMargin: '600px' });
  for (const entry of all('article')) seen.observe(entry);
  for (const time of all('.facts time')) time.textContent = zone.format(new Date(time.dateTime));

  // While a branch is open, the way on that it stands for is hidden.
  main.addEventListener('toggle', ({ target }) => {
    const fork = target.parentElement;
    if (target.className === 'branch' && fork) {
      fork.classList.toggle('elsewhere', [...fork.children].some(branch => branch.open));
    } else if (target.open) {
      colourIn(target);
    }
  }, true);
  const everything = one('#all');
  const showAll = () => main.classList.toggle('all', everything.checked);
  everything.addEventListener('change', showAll);
  showAll();

  // A link to an entry opens the branches that it is in.
  const reveal = element => {
    for (let up = element.parentElement; up; up = up.parentElement) if (up.tagName === 'DETAILS') up.open = true;
    for (let up = element; up && up !== main; up = up.parentElement) {
      for (let before = up.previousElementSibling; before; before = before.previousElementSibling) {
        if (before.classList.contains('fork')) for (const branch of before.children) branch.open = false;
      }
    }
    setTimeout(() => element.scrollIntoView({ block: 'start' }), 20);
  };
  const follow = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (target) reveal(target);
  };
  addEventListener('hashchange', follow);
  for (const link of all('a[href="#leaf"]')) link.addEventListener('click', () => setTimeout(follow));
  if (!one('#leaf')) for (const link of all('a[href="#leaf"]')) link.hidden = true;
  follow();

  // The search shows the entries that have all words, and opens what they are folded in.
  const search = one('#search'), hits = one('#hits');
  search.hidden = false;
  const mostOpened = 300, mostMarked = 3000;
  let texts, opened = [], waiting;
  const mark = (entries, wanted) => {
    if (!window.Highlight || !CSS.highlights) return;
    const ranges = [];
    for (const entry of entries) {
      const walk = document.createTreeWalker(entry, NodeFilter.SHOW_TEXT);
      for (let node; ranges.length < mostMarked && (node = walk.nextNode());) {
        const text = node.data.toLowerCase();
        if (text.length !== node.data.length) continue;
        for (const word of wanted) {
          for (let at = text.indexOf(word); at >= 0 && ranges.length < mostMarked; at = text.indexOf(word, at + word.length)) {
            const range = new Range();
            range.setStart(node, at);
            range.setEnd(node, at + word.length);
            ranges.push(range);
          }
        }
      }
      if (ranges.length >= mostMarked) break;
    }
    CSS.highlights.set('hits', new Highlight(...ranges));
  };
  const run = () => {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const details of opened) {
      details.open = false;
      if (details.dataset.name) details.setAttribute('name', details.dataset.name);
    }
    opened = [];
    main.classList.toggle('searching', wanted.length > 0);
    if (window.CSS && CSS.highlights) CSS.highlights.delete('hits');
    texts ??= [...all('article')].map(entry => ({ entry, text: entry.textContent.toLowerCase() }));
    const found = [];
    for (const { entry, text } of texts) {
      const has = wanted.every(word => text.includes(word));
      entry.classList.toggle('miss', !has);
      if (has) found.push(entry);
    }
    if (!wanted.length) { hits.value = ''; return; }
    hits.value = `${found.length} of ${texts.length}`;
    // Of branches with one name only one could be open.
    const open = details => {
      if (details.open) return;
      details.dataset.name = details.getAttribute('name') || '';
      details.removeAttribute('name');
      details.open = true;
      opened.push(details);
    };
    for (const entry of found.slice(0, mostOpened)) {
      for (const details of all('details', entry)) {
        if (wanted.some(word => details.textContent.toLowerCase().includes(word))) open(details);
      }
      for (let up = entry.parentElement; up && up !== main; up = up.parentElement) if (up.tagName === 'DETAILS') open(up);
    }
    // What is marked must not change any more.
    for (const entry of found.slice(0, mostOpened)) { seen.unobserve(entry); show(entry); }
    mark(found.slice(0, mostOpened), wanted);
  };
  search.addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(run, 150); });
  addEventListener('keydown', event => {
    if (event.key === '/' && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) { event.preventDefault(); search.focus(); }
    if (event.key === 'Escape' && document.activeElement === search) { search.value = ''; run(); search.blur(); }
  });
})();
