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

  // What comes into view gets its colours, and times in the reader's zone.
  const words = new Set(('abstract and as async await break case catch class const continue def default defer del do ' +
    'elif else end enum esac except export extends extern false fi final finally fn for from func function go if impl ' +
    'implements import in interface is lambda let loop match mod module mut namespace new nil none not null of or package ' +
    'pass private protected pub public raise return self static struct super switch then this throw trait true try type ' +
    'typeof undefined union unless unsafe use using var void where while with yield None True False').split(' '));
  const token = /(\/\/[^\n]*|#[^\n{[!]*(?=\n|$)|\/\*[^]*?\*\/|<!-\-[^]*?-->)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|(\b\d[\w.]*\b)|([A-Za-z_]\w*)/g;
  const mostColoured = 60000;
  const colour = code => {
    const text = code.textContent;
    if (text.length > mostColoured) return;
    const out = document.createDocumentFragment();
    let at = 0;
    for (const found of text.matchAll(token)) {
      const kind = found[1] ? 'c' : found[2] ? 's' : found[3] ? 'n' : words.has(found[4]) ? 'w' : '';
      if (!kind) continue;
      out.append(text.slice(at, found.index));
      const span = document.createElement('span');
      span.className = kind;
      span.textContent = found[0];
      out.append(span);
      at = found.index + found[0].length;
    }
    out.append(text.slice(at));
    code.replaceChildren(out);
  };
  const zone = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  const show = entry => {
    for (const time of all('time', entry)) {
      const date = new Date(time.dateTime);
      if (!isNaN(date)) { time.title = time.textContent; time.textContent = zone.format(date); }
    }
    for (const code of all('pre[data-language] code', entry)) {
      if (code.parentElement.dataset.language !== 'text') colour(code);
    }
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
    mark(found.slice(0, mostOpened), wanted);
  };
  search.addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(run, 150); });
  addEventListener('keydown', event => {
    if (event.key === '/' && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) { event.preventDefault(); search.focus(); }
    if (event.key === 'Escape' && document.activeElement === search) { search.value = ''; run(); search.blur(); }
  });
})();
