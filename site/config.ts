import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { defineConfig } from 'vitepress'

const repository = 'https://github.com/waymark-trace/waymark'

// Pages in the order of reading. Every page of docs must be in one group: the build fails otherwise.
const groups = {
  'Start': ['README', 'tutorial', 'cookbook', 'limits'],
  'Use': ['record', 'filters', 'agent', 'sinks', 'simple', 'vet', 'doctor', 'containers', 'json', 'tracers', 'from-the-kernel'],
  'Understand': ['architecture', 'rings', 'patching', 'performance'],
  'Trust': ['security', 'trust', 'stability'],
}

// title returns the first heading of a page.
function title(page: string): string {
  const text = readFileSync(new URL(`../pages/${page}.md`, import.meta.url), 'utf8')
  return text.match(/^# (.*)$/m)![1]
}

// target turns a link of a page into one of the site: pages stay, other files of the repository are shown by the forge.
function target(href: string): string {
  if (/^[a-z]+:|^#/.test(href)) return href
  const [path, hash] = href.split('#')
  const file = posix.normalize(posix.join('docs', path))
  const page = file.match(/^docs\/([a-z-]+)\.md$/) ?? file.match(/^(README)\.md$/)
  if (page) return `/${page[1] === 'README' ? '' : page[1]}${hash ? '#' + hash : ''}`
  return `${repository}/blob/main/${file}${hash ? '#' + hash : ''}`
}

export default defineConfig({
  title: 'waymark',
  description: 'Static tracing for Go, and for every program with SDT markers',
  base: process.env.SITE_BASE ?? '/',
  srcDir: 'pages',
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: true,
  markdown: {
    html: false,
    config(md) {
      md.core.ruler.push('repository-links', (state) => {
        for (const block of state.tokens) {
          for (const token of block.children ?? []) {
            const href = token.type === 'link_open' ? token.attrGet('href') : null
            if (href) token.attrSet('href', target(href))
          }
        }
      })
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [{ text: 'Tutorial', link: '/tutorial' }, { text: 'Cookbook', link: '/cookbook' }, { text: 'Repository', link: repository }],
    sidebar: Object.entries(groups).map(([text, pages]) => ({
      text, items: pages.map((page) => ({ text: page === 'README' ? 'waymark' : title(page), link: page === 'README' ? '/' : `/${page}` })),
    })),
  },
})

export { groups }
